import type { AccountId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import {
  type Counted,
  countedOf,
  type Followable,
  listFollowable,
} from "../disk/followable-files.ts";
import { type FileRead, readFileAt } from "../disk/read-file.ts";
import type { FileStanding } from "../git/git-state.ts";
import { chooseFile, type Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import { findSuccessor } from "./find-successor.ts";
import { findFirstFile } from "./first-file.ts";
import type { Sight } from "./follow-facts.ts";
import { type FollowedState, readStoredText, writeFollowed } from "./follow-store.ts";
import { readTwice } from "./glimpses.ts";

export interface CountedFileOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly log: Log;
  readonly account: AccountId;
}

/** Finds the file of a linked folder that counts. */
export class CountedFile {
  readonly #link: Link;
  readonly #options: CountedFileOptions;
  #beside: readonly Followable[] = [];

  constructor(link: Link, options: CountedFileOptions) {
    this.#link = link;
    this.#options = options;
  }

  /** Further files that could be followed, as of the last look. */
  get beside(): readonly Followable[] {
    return this.#beside;
  }

  /** Finds the file that counts. Resolves symbolic links each time. */
  async find(stored: FollowedState | undefined): Promise<Counted> {
    const before = stored && { path: stored.path, hadText: stored.base.text.trim() !== "" };
    const found = await listFollowable(this.#link.dir, stored?.path);
    const chosen = this.#link.file ?? (before ? undefined : await this.#findFirst(found));
    const counted = countedOf(found, { chosen, before });
    this.#beside = counted.beside;
    return counted;
  }

  async #findFirst(found: readonly Followable[]): Promise<string | undefined> {
    if (found.length < 2) return undefined;
    const { store, account } = this.#options;
    const { dir, projectId } = this.#link;
    const document = await readStoredText(store.reader, account, projectId);
    return await findFirstFile({ found, document, read: ({ path }) => readFileAt(dir, path) });
  }

  async read({ path, followable }: Counted): Promise<FileRead> {
    if (!followable) return { kind: "absent", path };
    const { problem: why, unread = false } = followable;
    if (why) return { kind: "problem", path, why, unread };
    return await readFileAt(this.#link.dir, path);
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
    const { path, isAnother } = successor;
    await this.#options.store.write(async ({ db }) => {
      await writeFollowed(db, dir, { ...known, path, isGone: isAnother, next: undefined });
      if (chosen !== undefined) await chooseFile(db, dir, path);
    });
    const told = { dir, from: known.path, to: path };
    this.#options.log.info(told, "a followed file goes on under another name");
    return true;
  }
}

/** Whether git has no say in what is done with the file. */
function isFree(standing: FileStanding): boolean {
  if (standing.kind === "tracked") return standing.onDefaultBranch;
  return standing.kind === "no-git" || standing.kind === "untracked";
}
