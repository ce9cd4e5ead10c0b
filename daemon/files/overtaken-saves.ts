import type { AccountId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { deletionOf } from "../../shared/replica/document/project-deletion.ts";
import type { ReplicaStore } from "../../shared/replica/store/store.ts";
import { isInGit } from "../git/blob-in-git.ts";
import type { Git } from "../git/run-git.ts";
import type { Link } from "../home/links.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { FileContent } from "./file-edit.ts";
import type { Readable } from "./follow-facts.ts";
import type { FollowedState } from "./follow-store.ts";
import type { Glimpses } from "./glimpses.ts";
import { keepOvertaken, keepSave } from "./save-history.ts";
import { findBeginnings } from "./unfinished.ts";

/** Which file it is about. */
export interface OvertakenOptions {
  readonly store: ReplicaStore<DaemonTables>;
  readonly git: Git;
  readonly account: AccountId;
  readonly link: Link;
  /** Where the link's files are. */
  readonly folder: string;
  readonly glimpses: Glimpses;
}

/** What a look found when the texts before had been saved over. */
export interface OvertakenBy {
  readonly file: Readable;
  /** Another commit may be checked out than the one at which the file was read last. */
  readonly isMoved: boolean;
  readonly known: FollowedState | undefined;
}

/** The saves of one file that were saved over before a look could take them. */
export class OvertakenSaves {
  readonly #options: OvertakenOptions;
  /** The hash of the text that was left alone by the last look. */
  #left: string | undefined;
  /** The text that waited for its end when the file was read last. */
  #awaited: FileContent | undefined;

  constructor(options: OvertakenOptions) {
    this.#options = options;
  }

  /**
   * Those of the texts that are saves, oldest first. Where another commit is checked out, git may
   * have brought a text and taken it away again. It brings what it had before the text stood in the
   * file: a commit or a stash from afterwards has it from there.
   */
  async among(
    seen: readonly FileContent[],
    { file, isMoved, known }: OvertakenBy,
  ): Promise<readonly FileContent[]> {
    const { git, folder, glimpses } = this.#options;
    const last = file.kind === "text" ? file : undefined;
    if (last?.hash !== this.#left) this.#left = undefined;
    const before = seen.filter(({ hash }) => hash !== last?.hash);
    const begun = findBeginnings(before, last, known);
    glimpses.forget(begun);
    const overtaken = before.filter((each) => !begun.includes(each));
    if (!isMoved) return overtaken;
    const saved: FileContent[] = [];
    for (const each of overtaken) {
      const { content: text, savedAt: before } = each;
      if (await isInGit(git, folder, { name: file.path, text, before })) {
        glimpses.markKnown(each.hash);
      } else saved.push(each);
    }
    return saved;
  }

  /**
   * Stores them in the history at once. The text that is there now may have to wait for a minute,
   * in which a program saves more often than can be kept in memory, and this process may end.
   */
  async keep(seen: readonly FileContent[], by: OvertakenBy): Promise<void> {
    const { store, account, link, glimpses } = this.#options;
    const texts = await this.among(seen, by);
    if (texts.length === 0) return;
    await store.write(async (context) => {
      const open = await context.open(projectDocument(account, link.projectId));
      if (!deletionOf(open.document)) await keepOvertaken(context, open, { dir: link.dir, texts });
    });
    glimpses.forget(texts);
  }

  /** Notes whether the text that was read now waits for its end. */
  noteWait(file: Readable, isWaiting: boolean): void {
    if (file.kind === "text") this.#awaited = isWaiting ? file : undefined;
  }

  /** The text that waited and is gone with its file, unless git has it. */
  async vanished({ kind, path: name }: Readable): Promise<FileContent | undefined> {
    if (kind !== "absent" || !this.#awaited) return undefined;
    const { git, folder } = this.#options;
    const { content: text, savedAt: before } = this.#awaited;
    return (await isInGit(git, folder, { name, text, before })) ? undefined : this.#awaited;
  }

  /** Whether the last look has left just this text alone: it is whole, and in the history. */
  isLeft(hash: string): boolean {
    return this.#left === hash;
  }

  /** As `keep`, where the text that is there now is left alone for good, and on this machine. */
  async keepLeft(seen: readonly FileContent[], by: OvertakenBy): Promise<void> {
    await this.keep(seen, by);
    const { store, account, link, glimpses } = this.#options;
    const { file } = by;
    if (file.kind !== "text" || this.isLeft(file.hash)) return;
    await store.write(async (context) => {
      const open = await context.open(projectDocument(account, link.projectId));
      if (deletionOf(open.document)) return;
      const { content, savedAt } = file;
      const kept = { dir: link.dir, content, savedAt, outcome: "held", conflicts: [] } as const;
      await keepSave(context, open, kept);
    });
    this.#left = file.hash;
    glimpses.markKnown(file.hash);
  }
}
