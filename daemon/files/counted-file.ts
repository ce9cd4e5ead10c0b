import { join } from "node:path";
import type { AccountId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Reason } from "../../shared/reasons.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import type { World } from "../../shared/world.ts";
import {
  type Counted,
  countedOf,
  FOLLOWED_NAMES,
  type Followable,
  isFollowedName,
  whyNotCreated,
} from "../disk/followable-files.ts";
import { type FileRead, readFileAt } from "../disk/read-file.ts";
import { type FileStanding, fileStanding } from "../git/git-state.ts";
import type { Git } from "../git/run-git.ts";
import { chooseFile, type Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { type Ignored, takeIgnored } from "../ignored/ignore-file.ts";
import { findAlso } from "./find-also.ts";
import { findSuccessor } from "./find-successor.ts";
import { findLeftLink, type LeftLink } from "./left-link.ts";
import { alsoNameOf, folderOf } from "./names/also-file.ts";
import { findFirstFile } from "./names/first-file.ts";
import { importedPaths } from "./names/import-file.ts";
import { listInstructionFiles } from "./names/instruction-files.ts";
import { whyFileIgnored, whyFileKept } from "./names/why-ignored.ts";
import type { FileContent } from "./state/file-edit.ts";
import type { Sight } from "./state/follow-facts.ts";
import {
  type FollowedState,
  readFollowed,
  readStoredText,
  writeFollowed,
} from "./state/follow-store.ts";
import { followedWith, importsFurther, whyImporting } from "./state/followed-imports.ts";
import { readTwice } from "./state/glimpses.ts";
import { Grace } from "./state/grace.ts";
import { nameToCreate } from "./state/project-file.ts";

export interface CountedFileOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly log: Log;
  readonly git: Git;
  readonly world: World;
  readonly account: AccountId;
  /** Called when a look finds that something else is ignored than at the one before. */
  readonly onIgnored?: () => void;
}

/**
 * Finds the file of a linked folder that counts.
 *
 * ```
 * const counted = await file.find(stored);
 * const read = await file.read(counted); // its text, or why it is not read
 * ```
 */
export class CountedFile {
  readonly #link: Link;
  readonly #options: CountedFileOptions;
  #found: readonly Followable[] = [];
  #beside: readonly Followable[] = [];
  #importing: readonly string[] = [];
  #name: string | undefined;
  /** The name of a link whose place another file may be about to take. */
  #leaving: string | undefined;
  readonly #grace: Grace;
  #ignoredSign: string | undefined;

  constructor(link: Link, options: CountedFileOptions) {
    this.#link = link;
    this.#options = options;
    this.#grace = new Grace(options.world);
  }

  /** What is kept of the names beside a file's text, as of the last look. */
  around(path: string): Pick<Sight, "beside" | "linkedAs"> {
    const linkedAs = this.#name === path ? this.#leaving : this.#name;
    return { beside: this.#beside.map((each) => each.path), linkedAs };
  }

  /** Further files that could be followed, as of the last look. */
  get beside(): readonly Followable[] {
    return this.#beside;
  }

  /** By which name the folder has the file that counts: perhaps a link's. */
  get name(): string | undefined {
    return this.#name;
  }

  /** The names of those that only import the file that counts, and so have its text. */
  get importing(): readonly string[] {
    return this.#importing;
  }

  /** Finds the file that counts. Resolves symbolic links each time. */
  async find(stored: FollowedState | undefined): Promise<Counted> {
    const also = alsoNameOf(this.#link);
    if (also !== undefined) return await this.#findAlso(also);
    const ignored = await this.#ignored();
    const before = stored && { path: stored.path, hadText: stored.base.text.trim() !== "" };
    const all = await listInstructionFiles(this.#options.git, this.#link.dir);
    this.#found = all;
    const open = withoutIgnored(all, ignored, stored?.path);
    const found = withoutAlso(open, this.#link, stored?.path);
    const used = found.length > 0 || before?.hadText ? undefined : await this.#nameInUse();
    const first = used ?? (before ? undefined : await this.#findFirst(found));
    const chosen = this.#link.file ?? first;
    const counted = countedOf(found, { chosen, before: used ? undefined : before });
    this.#beside = counted.beside;
    this.#name = counted.followable?.name;
    this.#leaving = this.#findLeaving(stored);
    this.#importing = await this.#findImporting(counted);
    return counted;
  }

  #findLeaving({ linkedAs, path }: Partial<FollowedState> = {}): string | undefined {
    const led = this.#found.find(({ name }) => name === linkedAs);
    // The link was deleted, and may come back.
    if (linkedAs === path && led?.path !== path) return linkedAs;
    const graceMs = this.#grace.left(linkedAs !== undefined && led === undefined);
    const isLeaving = led === undefined ? graceMs > 0 : led.path !== path;
    return isLeaving ? linkedAs : undefined;
  }

  async #findImporting({ path, beside }: Counted): Promise<string[]> {
    const names: string[] = [];
    for (const each of beside) {
      if (each.problem !== undefined) continue;
      const read = await readFileAt(this.#link.dir, each.path);
      if (read.kind !== "text") continue;
      if (importedPaths(read.content, each.path).includes(path)) names.push(each.name);
    }
    return names;
  }

  async #findAlso(path: string): Promise<Counted> {
    const found = await findAlso(this.#options.store, this.#link, path);
    const [name] = FOLLOWED_NAMES;
    return { path, followable: found && { name, path, ...found }, beside: [] };
  }

  async #ignored(): Promise<Ignored> {
    const ignored = await takeIgnored(this.#options.store, folderOf(this.#link));
    const before = this.#ignoredSign ?? ignored.sign;
    this.#ignoredSign = ignored.sign;
    if (ignored.sign !== before) this.#options.onIgnored?.();
    return ignored;
  }

  /** What the project's file is called on other machines. */
  async #nameInUse(): Promise<string | undefined> {
    const { store, account } = this.#options;
    return await store.write(async (context) => {
      const open = await context.find(projectDocument(account, this.#link.projectId));
      return open && (await nameToCreate(this.#link.dir, open.document));
    });
  }

  async #findFirst(found: readonly Followable[]): Promise<string | undefined> {
    if (found.length < 2) return undefined;
    const { store, account } = this.#options;
    const { dir, projectId } = this.#link;
    const document = await readStoredText(store.reader, account, projectId);
    return await findFirstFile({ found, document, read: ({ path }) => readFileAt(dir, path) });
  }

  async read({ path, followable }: Counted): Promise<FileRead> {
    if (!followable) {
      const why = await whyNotCreated(folderOf(this.#link), path);
      return why ? { kind: "problem", path, why, unread: false } : { kind: "absent", path };
    }
    const { problem: why, unread = false } = followable;
    if (why) return { kind: "problem", path, why, unread };
    return await readFileAt(folderOf(this.#link), path);
  }

  /**
   * Why the file stays on this machine; undefined: it does not. Asked after it was read: whoever
   * names a file before he writes into it is heeded.
   */
  async whyIgnored({ path, followable }: Counted): Promise<Reason | undefined> {
    const { account, store } = this.#options;
    const { projectId } = this.#link;
    const ignored = await this.#ignored();
    const name = alsoNameOf(this.#link) ? undefined : followable?.name;
    const why = await whyFileKept(ignored, folderOf(this.#link), { name, path });
    if (why?.code !== "ignored") return why;
    // What others have is not of this file, and not to be deleted for its sake.
    const known = await readFollowed(store.reader, this.#link.dir);
    if (!known || known.base.text.trim() === "") return why;
    const text = await readStoredText(store.reader, account, projectId);
    return text.trim() === "" ? why : { code: "ignored-sent", command: "memsync doc clear" };
  }

  /**
   * Why the file is no edit of the text: it imports one that has that text, or the text imports it.
   * Whoever writes an import moves the text, and deletes none of it.
   */
  async whyImports({ file }: Sight, known: FollowedState | undefined): Promise<Reason | undefined> {
    const { store, account } = this.#options;
    const link = this.#link;
    const isFurther = alsoNameOf(link) !== undefined;
    const isKnown = file.kind !== "text" || known?.hash === file.hash;
    if (isKnown && !isFurther) return undefined;
    const document = await readStoredText(store.reader, account, link.projectId);
    if (isFurther && (await importsFurther(store.reader, link, document))) {
      return { code: "also-imported" };
    }
    if (isKnown) return undefined;
    const others = await followedWith(store.reader, link);
    const beside = this.#beside.map(({ path }) => path);
    const from = { file, known: known?.base.text, folder: folderOf(link), isFurther, document };
    return await whyImporting({ ...from, followed: others, beside });
  }

  /**
   * Follows what is at the name of a link that leads to the followed file no more, or that has
   * taken its place. `takeLate`: takes what the former file has been saved with since it was read.
   * Undefined: nothing has changed.
   */
  async leaveLink(
    stored: FollowedState,
    takeLate: (file: FileContent) => Promise<unknown>,
  ): Promise<LeftLink | undefined> {
    const { dir, file: chosen } = this.#link;
    if (alsoNameOf(this.#link) !== undefined) return undefined;
    const readAt = (path: string) => readTwice(dir, path);
    const nameInUse = () => this.#nameInUse();
    const left = await findLeftLink({ found: this.#found, stored, chosen, readAt, nameInUse });
    if (!left) return undefined;
    if (isFollowedName(stored.path) && stored.linkedAs !== stored.path) {
      const standing = await fileStanding(this.#options.git, join(dir, stored.path));
      // On another branch the link may just be another one.
      if (!isFree(standing)) return undefined;
      const isReadable = left.isFormerThere && standing.kind !== "tracked";
      const former = isReadable ? await readAt(stored.path) : undefined;
      const isSaved = former?.kind === "text" && former.content.trim() !== "";
      if (isSaved && former.hash !== stored.hash) await takeLate(former);
    }
    const beside = [...(stored.beside ?? []), stored.path];
    await this.#options.store.write(async ({ db }) => {
      await writeFollowed(db, dir, { ...left.state, beside });
    });
    const told = { dir, from: stored.path, to: left.state.path };
    this.#options.log.info(told, "a followed file is a link now, or no longer");
    return left;
  }

  /** Follows a renamed file under its new name from now on. False: it was not renamed. */
  async goOn(sight: Sight, known: FollowedState, counted: Counted): Promise<boolean> {
    if (counted.beside.length === 0 || !isFree(sight.standing)) return false;
    const { dir, file: chosen } = this.#link;
    // The user's choice stands whatever that file contains.
    if (sight.file.kind === "text" && counted.followable?.name === chosen) return false;
    const readBeside = (beside: Followable) => readTwice(dir, beside.path);
    const successor = await findSuccessor({ known, counted, read: sight.file, readBeside });
    if (!successor) return false;
    const { path, isAnother: isGone } = successor;
    const name = counted.beside.find((each) => each.path === path)?.name ?? path;
    const linkedAs = name === path ? undefined : name;
    await this.#options.store.write(async ({ db }) => {
      await writeFollowed(db, dir, { ...known, path, linkedAs, isGone, next: undefined });
      if (chosen !== undefined) await chooseFile(db, dir, name);
    });
    const told = { dir, from: known.path, to: path };
    this.#options.log.info(told, "a followed file goes on under another name");
    return true;
  }
}

/** A file that follows another one does not count beside it, and is not what another one became. */
function withoutAlso(
  found: readonly Followable[],
  { also = [] }: Link,
  before: string | undefined,
): readonly Followable[] {
  const others = found.filter(({ name, path }) => path === before || !also.includes(name));
  return others.length > 0 || before !== undefined ? others : found;
}

/**
 * The files of which one may count. One that was followed so far is not replaced by another: the
 * user is told. Where all are ignored it is one of these, for none is to be created beside it.
 */
export function withoutIgnored(
  found: readonly Followable[],
  ignored: Ignored,
  before: string | undefined,
): readonly Followable[] {
  const open = found.filter((each) => each.path === before || !whyFileIgnored(ignored, each));
  return open.length > 0 ? open : found;
}

/** Whether git has no say in what is done with the file. */
function isFree(standing: FileStanding): boolean {
  if (standing.kind === "tracked") return standing.onDefaultBranch;
  return standing.kind === "no-git" || standing.kind === "untracked";
}
