import { join } from "node:path";
import { deletionOf } from "../../../shared/replica/document/project-deletion.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { UNSEEN_MS } from "../../files/arrivals/arrivals.ts";
import type { CameLine } from "../../files/arrivals/line-arrival-store.ts";
import { isSeenByNow, type LineArrivals } from "../../files/arrivals/line-arrivals.ts";
import type { ToldLines } from "../../files/arrivals/told-lines.ts";
import { linesWithout, returnedUnseen } from "../../files/arrivals/unseen-lines.ts";
import { forgetLines } from "../../home/line-arrival-key.ts";
import { findMemoryFile, type MemoryFile, NEVER_SHOWN } from "../../home/memory-files.ts";
import { documentOf, type MemoryKeeperOptions } from "./memory-keeper-options.ts";
import { keyOfName } from "./memory-names.ts";
import type { MemoryNote } from "./plan-arrivals.ts";
import { hasChangedTopic, isTopicPutBack } from "./put-back-text.ts";
import type { MemoryText } from "./read-memory-folder.ts";
import { settleIndexLines } from "./take-index-edit.ts";
import { undoesUnseen } from "./take-memory-edit.ts";
import type { SeenFolder } from "./write-memory-folder.ts";

type Db = Parameters<typeof findMemoryFile>[0];

interface MemoryLinesOptions extends MemoryKeeperOptions {
  readonly came: LineArrivals;
  readonly told: ToldLines;
}

/** A file that was taken, and of which lines its author may not have seen that they changed. */
interface TakenLines {
  readonly name: string;
  readonly former: MemoryFile | undefined;
  readonly file: MemoryText;
  readonly isIndex: boolean;
  readonly unseen: readonly CameLine[];
  /** Those of them that others changed since the version that stands in the file again. */
  readonly since: readonly CameLine[];
  /** The memory as it counts now, where the file does not get it: it is only read. */
  readonly standing: string | undefined;
}

/** What is known of single lines of memory files: which came when, and what is told of them. */
export class MemoryLines {
  readonly #options: MemoryLinesOptions;

  constructor(options: MemoryLinesOptions) {
    this.#options = options;
  }

  /**
   * Notes which lines a save has changed, or a write that a crash interrupted. Only in an index
   * several sessions of this machine write at once, each a line; in all else what comes from
   * elsewhere alone is in doubt.
   */
  async noteTaken(
    db: Db,
    folder: string,
    { name, former, file, isIndex, unseen, since, standing }: TakenLines,
  ): Promise<void> {
    const now = await findMemoryFile(db, folder, name);
    // One that is held is not taken.
    if (now?.hash !== file.hash) return;
    const at = join(folder, name);
    const isOwn = former?.next?.hash !== file.hash;
    const isKnown = former !== undefined && former.hash !== NEVER_SHOWN.hash;
    const from = former?.text ?? "";
    const to = file.content;
    if (!isOwn) {
      if (isIndex || isKnown) await this.#options.came.note(db, at, { from, to, isOwn });
      if (isIndex) await this.#options.told.noteWritten(db, at, { from, to });
      if (isKnown) await this.#options.came.noteShown(db, at, former.seen);
    } else if (!isIndex && undoesUnseen({ file, base: former, unseen })) {
      // What came stands beside it now. Further saves of its author are edits of this one.
      await forgetLines(db, at);
    } else if (!isIndex) {
      await this.#options.came.note(db, at, { from: to, to, isOwn });
      await this.#options.came.forgetShown(db, at);
    } else if (isKnown || !isSeenByNow(file.savedAt, this.#options.world.now())) {
      await this.#options.came.note(db, at, { from, to, isOwn, savedAt: file.savedAt });
      const returned = returnedUnseen({ shown: from, saved: to }, unseen);
      const undone = await this.#options.told.noteSave(db, at, { from, to, withinMs: UNSEEN_MS });
      const lines = [...returned, ...undone];
      await this.#options.told.note(db, at, { code: "line-returned", lines });
      const stays = since.filter(({ isGone, isDisputed }) => !isGone && !isDisputed);
      const kept = stays.map(({ line }) => line);
      await this.#options.told.note(db, at, { code: "line-kept", lines: kept });
      if (standing !== undefined) await this.#noteElsewhere(db, at, { from, to, standing });
    }
  }

  /** Whether a topic of the folder is an earlier version again. */
  async isPutBack(seen: SeenFolder, known: ReadonlyMap<string, MemoryFile>): Promise<boolean> {
    if (!hasChangedTopic({ seen, known })) return false;
    return await this.#options.store.write(async (context) => {
      const open = await context.open(documentOf(this.#options, seen.owner));
      return await isTopicPutBack(context.db, open, { seen, known });
    });
  }

  /** Of what was told of a line that a save left out, its author knows: a second save means it. */
  async disputed(db: Db, at: string, lines: readonly CameLine[]): Promise<CameLine[]> {
    if (lines.length === 0) return [];
    const told = await this.#options.told.keptLines(db, at);
    return lines.map((each) => ({ ...each, isDisputed: told.has(each.line) }));
  }

  /** Lines that a save has left out, and that stay in the memory alone. */
  async #noteElsewhere(
    db: Db,
    at: string,
    {
      from,
      to,
      standing,
    }: { readonly from: string; readonly to: string; readonly standing: string },
  ): Promise<void> {
    const stays = new Set(plainLines(standing));
    const left = linesWithout(plainLines(from), plainLines(to));
    const lines = left.filter((line) => line.trim() !== "" && stays.has(line));
    await this.#options.told.note(db, at, { code: "line-elsewhere", lines });
  }

  /** Brings about what somebody has decided about lines of an index. */
  async settle({ path, owner, format, files }: SeenFolder): Promise<void> {
    const { index } = format;
    if (index === undefined) return;
    const file = files.get(index);
    const at = join(path, index);
    await this.#options.store.write(async (context) => {
      const { db } = context;
      const known = await findMemoryFile(db, path, index);
      const open = await context.open(documentOf(this.#options, owner));
      const isTaken = file?.kind === "text" && file.hash === known?.hash;
      if (!isTaken || deletionOf(open.document)) return;
      const settled = await this.#options.told.settled(db, at);
      if (settled.length === 0) return;
      const key = keyOfName(format, index);
      const change = await settleIndexLines(context, open, { key, settled });
      if (change) await this.#options.told.noteSettled(db, at, change);
    });
  }

  /** Lines of an index of which somebody is told. */
  async told(
    { path, format: { index } }: SeenFolder,
    known: ReadonlyMap<string, MemoryFile>,
  ): Promise<MemoryNote[]> {
    const file = index === undefined ? undefined : known.get(index);
    if (!file) return [];
    const { name, text } = file;
    const told = await this.#options.told.told(this.#options.store.reader, join(path, name), text);
    return told.map((why) => ({ name, why }));
  }
}
