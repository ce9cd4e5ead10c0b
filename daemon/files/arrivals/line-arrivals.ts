import type { EntryId } from "../../../shared/replica/document/entry-index.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { World } from "../../../shared/world.ts";
import { entryIdsText, parseEntryIds } from "../../home/entry-ids.ts";
import { lineArrivalKey, shownBeforeKey } from "../../home/line-arrival-key.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { ArrivalClock } from "./arrival-clock.ts";
import { forgetSeen, markArrivalsSeen } from "./arrival-store.ts";
import { UNSEEN_MS } from "./arrivals.ts";
import {
  addLine,
  type CameLine,
  listCame,
  listShown,
  noteLeftOut,
  type Seeable,
} from "./line-arrival-store.ts";
import { decidedLines, isLeftOut } from "./told-lines.ts";
import { linesWithout } from "./unseen-lines.ts";

type Db = WriteContext<DaemonTables>["db"];

/** A file's text before and after a write or a save. */
export interface ChangedLines {
  readonly from: string;
  readonly to: string;
  readonly isOwn: boolean;
  /** When it was saved; undefined for a write of ours. */
  readonly savedAt?: number | undefined;
  /** Who saves here later has seen what this brings. */
  readonly isSeen?: boolean;
}

/** Longer than any save is in doubt. */
const KEPT_MS = 10 * 60_000;

/**
 * Which lines came into files of whole values when, and which left them, by the rule for followed
 * files: only a save that was made a minute later is sure to have seen that. They are in the home,
 * so a restart changes nothing.
 *
 * The time of the save that is taken says too little: others may have been made before it that no
 * look has found, by a program that had not seen the change. So a look has to have found the file
 * with it, a minute after it came; see `noteSeen`.
 */
export class LineArrivals {
  readonly #world: Pick<World, "monotonic" | "now">;
  readonly #clocks = new Map<string, ArrivalClock>();
  /** Files in which every change that came is seen. */
  readonly #allSeen = new Set<string>();

  constructor(world: Pick<World, "monotonic" | "now">) {
    this.#world = world;
  }

  /**
   * The lines of which the author of a save may not have seen that they came, or left, or that
   * somebody wants them to stay.
   */
  async unseen(db: Db, path: string, savedAt: number): Promise<CameLine[]> {
    const unseen = this.#unseenLines(path, await listCame(db, path), savedAt);
    const known = new Set(unseen.flatMap(({ line, isGone }) => (isGone ? [] : [line])));
    const decided = await decidedLines(db, path, this.#world.now());
    return [...unseen, ...decided.filter(({ line }) => !known.has(line))];
  }

  #unseenLines(path: string, lines: readonly CameLine[], savedAt: number): CameLine[] {
    const now = this.#world.now();
    const unseen = this.#unseenOf(path, lines, savedAt);
    return lines.flatMap((each) => {
      const isUnseen = unseen.includes(each);
      if (!isUnseen && !isLeftOut(each, now)) return [];
      const { leftOutAt = now } = each;
      const isInsisted = isSeenByNow(leftOutAt, Math.min(savedAt, now));
      return [{ ...each, isDisputed: !isUnseen || isInsisted }];
    });
  }

  /** A look finds this text in the file, and nothing that is not taken. */
  async noteSeen(db: Db, path: string, text: string): Promise<void> {
    if (this.#allSeen.has(path)) return;
    const stands = new Set(plainLines(text));
    const lines = await listCame(db, path);
    const isShown = ({ line, isGone = false }: CameLine) => stands.has(line) !== isGone;
    const left = [
      ...(await this.#noteSeenOf(db, path, lines.filter(isShown))),
      ...(await this.#noteSeenOf(db, shownBeforeKey(path), await listShown(db, path))),
    ];
    if (left.length === 0) this.#allSeen.add(path);
  }

  /** Whether later looks at the same text say no more than the last one. */
  isAllSeen(path: string): boolean {
    return this.#allSeen.has(path);
  }

  /** Returns which are not yet. */
  async #noteSeenOf(db: Db, dir: string, changes: readonly Seeable[]): Promise<Seeable[]> {
    const open = changes.filter(({ isSeen }) => !isSeen);
    const young = this.#clockOf(dir).unseenAt(open, this.#world.now());
    const seen = open.filter((each) => !young.includes(each));
    await markArrivalsSeen(
      db,
      seen.map(({ id }) => id),
    );
    return young;
  }

  #unseenOf<Change extends Seeable>(
    dir: string,
    changes: readonly Change[],
    savedAt: number,
  ): Change[] {
    const young = this.#clockOf(dir).unseenAt(changes, savedAt);
    return changes.filter((each) => !each.isSeen || young.includes(each));
  }

  /** A file's text changes. To be called in the transaction that records the change. */
  async note(db: Db, path: string, change: ChangedLines): Promise<void> {
    const { from, to, isOwn, savedAt, isSeen: isBroughtSeen = false } = change;
    const clock = this.#clockOf(path);
    const now = this.#world.now();
    const came = await listCame(db, path);
    const unseen = savedAt === undefined ? [] : this.#unseenLines(path, came, savedAt);
    const inDoubt = new Set(unseen.flatMap(({ id, isDisputed }) => (isDisputed ? [] : [id])));
    this.#allSeen.delete(path);
    const stands = new Set(plainLines(to));
    const stood = new Set(plainLines(from));
    const young = new Set(clock.cameWithin(KEPT_MS));
    const isOver = (each: CameLine) => {
      const { id, at, line, isGone = false, isSeen = false } = each;
      if (isGone ? stands.has(line) : !stands.has(line) && !inDoubt.has(id)) return true;
      if (young.has(id) || now - at <= KEPT_MS) return false;
      return isGone || !(stands.has(line) || stood.has(line)) || (isSeen && !isLeftOut(each, now));
    };
    const over = came.filter(isOver);
    for (const { id } of over) await db.deleteFrom("file_arrivals").where("id", "=", id).execute();
    const kept = came.filter((each) => !over.includes(each));
    clock.keep(kept);
    const known = kept.filter(({ isGone }) => !isGone);
    if (savedAt !== undefined) {
      const leftOut = known.filter(({ line }) => stood.has(line) && !stands.has(line));
      // A file that was put back has the time of long ago.
      const leftAt = (at: number) => Math.min(Math.max(savedAt, at), now);
      for (const each of leftOut) await noteLeftOut(db, each, leftAt(each.at));
    }
    const come = linesWithout(plainLines(to), plainLines(from));
    const fresh = linesWithout(
      come,
      known.map(({ line }) => line),
    );
    const brought = isBroughtSeen ? [] : fresh;
    const left = new Set(isOwn ? [] : [...stood].filter((line) => !stands.has(line)));
    const changes: readonly Pick<CameLine, "line" | "isOwn" | "isGone">[] = [
      ...brought.map((line) => ({ line, isOwn })),
      ...[...left].map((line) => ({ line, isOwn, isGone: true })),
    ];
    for (const each of changes) {
      if (each.line.trim() === "") continue;
      clock.came(await addLine(db, lineArrivalKey(path), { change: each, at: now }));
    }
  }

  /** A write of ours comes into a file that showed these entries. */
  async noteShown(db: Db, path: string, seen: readonly EntryId[]): Promise<void> {
    const dir = shownBeforeKey(path);
    const clock = this.#clockOf(dir);
    this.#allSeen.delete(path);
    const at = this.#world.now();
    await forgetSeen(db, dir, { clock, now: at });
    clock.came(await addLine(db, dir, { change: { seen: entryIdsText(seen) }, at }));
  }

  /** What the author of a save has seen of the file before writes that he may not have seen. */
  async shownBefore(db: Db, path: string, savedAt: number): Promise<EntryId[]> {
    const [first] = this.#unseenOf(shownBeforeKey(path), await listShown(db, path), savedAt);
    return first ? parseEntryIds(first.seen) : [];
  }

  /** A save has come: its author knows what is in it. */
  async forgetShown(db: Db, path: string): Promise<void> {
    const dir = shownBeforeKey(path);
    await db.deleteFrom("file_arrivals").where("dir", "=", dir).execute();
  }

  #clockOf(path: string): ArrivalClock {
    const known = this.#clocks.get(path) ?? new ArrivalClock(this.#world);
    this.#clocks.set(path, known);
    return known;
  }
}

/** What a text was saved that long ago everybody has seen. */
export function isSeenByNow(savedAt: number, now: number): boolean {
  return now - savedAt >= UNSEEN_MS;
}
