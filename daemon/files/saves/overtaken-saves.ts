import type { AccountId } from "../../../shared/ids.ts";
import { projectDocument } from "../../../shared/replica/document/address.ts";
import { deletionOf } from "../../../shared/replica/document/project-deletion.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { ReplicaStore } from "../../../shared/replica/store/store.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { isInGit, isStaged } from "../../git/blob-in-git.ts";
import type { FileStanding } from "../../git/git-state.ts";
import type { Git } from "../../git/run-git.ts";
import type { Link } from "../../home/links.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FileContent } from "../state/file-edit.ts";
import { isTakenAt, type Readable } from "../state/follow-facts.ts";
import type { FollowedState } from "../state/follow-store.ts";
import type { Glimpses } from "../state/glimpses.ts";
import {
  keepOvertaken,
  keepSave,
  type Overtaken,
  readWaiting,
  type SavedText,
} from "../state/save-history.ts";
import { findBeginnings } from "../state/unfinished.ts";

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

const WAITING = { outcome: "waiting", conflicts: [] } as const;

/** The saves of one file that were saved over before a look could take them. */
export class OvertakenSaves {
  readonly #options: OvertakenOptions;
  /** The hash of the text that was left alone by the last look. */
  #left: string | undefined;
  /** The hash of the text that waits, and is in the history. */
  #waiting: string | undefined;

  constructor(options: OvertakenOptions) {
    this.#options = options;
  }

  /**
   * Which of the texts are saves. Where another commit is checked out, git may
   * have brought a text and taken it away again. It brings what it had before the text stood in the
   * file: a commit or a stash from afterwards has it from there.
   */
  async among(
    seen: readonly FileContent[],
    { file, isMoved, known }: OvertakenBy,
  ): Promise<Overtaken> {
    const { git, folder, glimpses } = this.#options;
    const last = file.kind === "text" ? file : undefined;
    if (last?.hash !== this.#left) this.#left = undefined;
    if (last && last.hash !== this.#waiting) this.#waiting = undefined;
    // What waited may have its file back, or is taken as it stands once that is gone for good.
    const now = last?.hash ?? this.#waiting;
    const before = seen.filter(({ hash }) => hash !== now);
    const begun = findBeginnings(before, last, known);
    glimpses.forget(begun);
    const overtaken = before.filter((each) => !begun.includes(each));
    if (!isMoved) return { saves: overtaken, begun };
    const saves: FileContent[] = [];
    for (const each of overtaken) {
      const { content: text, savedAt: before } = each;
      if (await isInGit(git, folder, { name: file.path, text, before })) {
        glimpses.markKnown(each.hash);
      } else saves.push(each);
    }
    return { saves, begun };
  }

  /**
   * Stores them in the history at once, and the text that waits with them. It may have to wait for
   * a minute, in which a program saves more often than can be kept in memory, and this process may
   * end.
   */
  async keep(seen: readonly FileContent[], by: OvertakenBy, waiting?: FileContent): Promise<void> {
    const { glimpses } = this.#options;
    const overtaken = await this.among(seen, by);
    // An empty file says nothing before its grace is over.
    const isText = waiting !== undefined && waiting.content.trim() !== "";
    const isNew = isText && waiting.hash !== this.#waiting;
    if (overtaken.saves.length === 0 && !isNew) return;
    await this.#write(async (context, open) => {
      const { dir } = this.#options.link;
      await keepOvertaken(context, open, { dir, ...overtaken });
      if (isNew) await keepSave(context, open, { dir, ...waiting, ...WAITING });
    });
    glimpses.forget(overtaken.saves);
    this.#waiting = waiting?.hash;
  }

  /** As `keep`, of a file whose place another one has taken. */
  async keepGone(seen: readonly FileContent[], known: FollowedState): Promise<void> {
    await this.keep(seen, { file: { kind: "absent", path: known.path }, isMoved: true, known });
  }

  /**
   * The text that a look found, if somebody has saved it. Undefined: it was known, or git has
   * written it. Null: the file is not there, or is not to be taken now.
   */
  async findSave(
    read: Readable,
    standing: FileStanding,
    known: FollowedState | undefined,
  ): Promise<FileContent | undefined | null> {
    if (read.kind === "absent" || !isTakenAt(standing)) return null;
    const isKnown = [known?.hash, known?.next?.hash, this.#left].includes(read.hash);
    if (isKnown) return undefined;
    const { git } = this.#options;
    const isGits =
      standing.kind === "tracked" && (await isStaged(git, standing.file, read.content));
    return isGits ? undefined : read;
  }

  /** Stores what waits in a file that has lost its name. */
  async keepLate(file: FileContent): Promise<void> {
    const { dir } = this.#options.link;
    await this.#write((context, open) => keepSave(context, open, { dir, ...file, ...WAITING }));
  }

  /** What waited, maybe since before this process began, and is gone with its file. */
  async vanished({ kind, path: name }: Readable): Promise<SavedText | undefined> {
    const { store, git, folder, account, link } = this.#options;
    if (kind !== "absent") return undefined;
    const address = projectDocument(account, link.projectId);
    const waited = await readWaiting(store.reader, address, link.dir);
    if (!waited) return undefined;
    const { content: text, savedAt: before } = waited;
    return (await isInGit(git, folder, { name, text, before })) ? undefined : waited;
  }

  /** As `keep`, where the text that is there now is left alone for good, and on this machine. */
  async keepLeft(seen: readonly FileContent[], by: OvertakenBy): Promise<void> {
    await this.keep(seen, by);
    const { link, glimpses } = this.#options;
    const { file } = by;
    if (file.kind !== "text" || file.hash === this.#left) return;
    const { content, savedAt } = file;
    const kept = { dir: link.dir, content, savedAt, outcome: "held", conflicts: [] } as const;
    await this.#write((context, open) => keepSave(context, open, kept));
    this.#left = file.hash;
    glimpses.markKnown(file.hash);
  }

  async #write(
    keep: (context: WriteContext<DaemonTables>, open: OpenDocument) => Promise<void>,
  ): Promise<void> {
    const { store, account, link } = this.#options;
    await store.write(async (context) => {
      const open = await context.open(projectDocument(account, link.projectId));
      if (!deletionOf(open.document)) await keep(context, open);
    });
  }
}
