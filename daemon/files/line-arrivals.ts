import { sql } from "kysely";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import {
  joinForm,
  plainLines,
  splitForm,
  withoutMark,
} from "../../shared/replica/text/text-form.ts";
import type { World } from "../../shared/world.ts";
import { entryIdsText, parseEntryIds } from "../home/entry-ids.ts";
import { lineArrivalKey, returnedLineKey, shownBeforeKey } from "../home/line-arrival-key.ts";
import type { DaemonTables } from "../home/tables.ts";
import { ArrivalClock } from "./arrival-clock.ts";
import { forgetSeen, markArrivalsSeen } from "./arrival-store.ts";
import { type ArrivalTime, UNSEEN_MS } from "./arrivals.ts";

type Db = WriteContext<DaemonTables>["db"];

/** A change of which it matters whether who saves has seen it. */
interface Seeable extends ArrivalTime {
  /** A look has found it in the file a minute after it came. */
  readonly isSeen?: boolean | undefined;
}

/** A line that came into a file or left it, and of which no characters are known. */
export interface CameLine extends Seeable {
  readonly line: string;
  /** A program saved it here. Else a write of ours brought it. */
  readonly isOwn: boolean;
  /** A write of ours took it out. */
  readonly isGone?: boolean | undefined;
  /** When the first save was made that left it out unseen, after which it stayed. */
  readonly leftOutAt?: number | undefined;
  /** A save leaves it out once more, a minute or more after the first one: it goes, in dispute. */
  readonly isDisputed?: boolean | undefined;
}

/** A file's text before and after a save. */
export interface SavedOver {
  readonly shown: string;
  readonly saved: string;
}

/** A file's text before and after a write or a save. */
export interface ChangedLines {
  readonly from: string;
  readonly to: string;
  readonly isOwn: boolean;
  /** When it was saved; undefined for a write of ours. */
  readonly savedAt?: number | undefined;
}

/** What becomes of a line that a save leaves out unseen, and that a write of ours brings back. */
interface LineArrivalOptions {
  /**
   * That it was left out is noted and told, and a later save takes it out; see `CameLine`. Else it
   * is as new as one that comes, for meanwhile programs may have read the file without it.
   */
  readonly notesLeftOut?: boolean;
}

/** Longer than any save is in doubt. */
const KEPT_MS = 10 * 60_000;
/** For so long it is told that a save has brought a line back, or left one out that stays. */
const TOLD_MS = 24 * 60 * 60_000;

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
  readonly #notesLeftOut: boolean;
  readonly #clocks = new Map<string, ArrivalClock>();
  /** Files in which every change that came is seen. */
  readonly #allSeen = new Set<string>();

  constructor(
    world: Pick<World, "monotonic" | "now">,
    { notesLeftOut = false }: LineArrivalOptions = {},
  ) {
    this.#world = world;
    this.#notesLeftOut = notesLeftOut;
  }

  /** The lines of which the author of a save may not have seen that they came, or left. */
  async unseen(db: Db, path: string, savedAt: number): Promise<CameLine[]> {
    return this.#unseenLines(path, await listCame(db, path), savedAt);
  }

  #unseenLines(path: string, lines: readonly CameLine[], savedAt: number): CameLine[] {
    const now = this.#world.now();
    const unseen = this.#unseenOf(path, lines, savedAt);
    return lines.flatMap((each) => {
      if (!unseen.includes(each) && !isTold(each, now)) return [];
      const { leftOutAt = now } = each;
      return [{ ...each, isDisputed: isSeenByNow(leftOutAt, Math.min(savedAt, now)) }];
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
  async note(db: Db, path: string, { from, to, isOwn, savedAt }: ChangedLines): Promise<void> {
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
      return isGone || !(stands.has(line) || stood.has(line)) || (isSeen && !isTold(each, now));
    };
    const over = came.filter(isOver);
    for (const { id } of over) await db.deleteFrom("file_arrivals").where("id", "=", id).execute();
    const kept = came.filter((each) => !over.includes(each));
    clock.keep(kept);
    const known = kept.filter(({ isGone }) => !isGone);
    if (savedAt !== undefined && this.#notesLeftOut) {
      const leftOut = known.filter(({ line }) => stood.has(line) && !stands.has(line));
      for (const each of leftOut) await noteLeftOut(db, each, Math.min(savedAt, now));
    }
    const come = without(plainLines(to), plainLines(from));
    const isRenewed = !isOwn && !this.#notesLeftOut;
    const again = isRenewed ? known.filter(({ line }) => come.includes(line)) : [];
    for (const { id } of again) await this.#renew(db, path, id);
    const brought = without(
      come,
      known.map(({ line }) => line),
    );
    const left = new Set(isOwn ? [] : [...stood].filter((line) => !stands.has(line)));
    const changes = [
      ...brought.map((line) => ({ line, isOwn })),
      ...[...left].map((line) => ({ line, isOwn, isGone: true })),
    ];
    for (const change of changes) {
      if (change.line.trim() === "") continue;
      clock.came(await addLine(db, lineArrivalKey(path), { change, at: now }));
    }
  }

  async #renew(db: Db, path: string, id: number): Promise<void> {
    const change = sql<string>`json_remove(change, '$.isSeen')`;
    const values = { arrived_at: this.#world.now(), change };
    await db.updateTable("file_arrivals").set(values).where("id", "=", id).execute();
    this.#clockOf(path).came(id);
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

  /** A save has brought back lines of which its author may not have seen that they left. */
  async noteReturned(db: Db, path: string, lines: readonly string[]): Promise<void> {
    const [dir, at] = [returnedLineKey(path), this.#world.now()];
    const isOver = db.deleteFrom("file_arrivals").where("arrived_at", "<", at - TOLD_MS);
    await isOver.where("dir", "=", dir).execute();
    for (const line of lines) await addLine(db, dir, { change: { line }, at });
  }

  /** Which of those of the last day still stand in the file's text. */
  async returned(db: Db, path: string, text: string): Promise<string[]> {
    const stands = new Set(plainLines(text));
    const told = (await listChanges<CameLine>(db, returnedLineKey(path))).filter(({ line, at }) => {
      return stands.has(line) && this.#world.now() - at < TOLD_MS;
    });
    return [...new Set(told.map(({ line }) => line))];
  }

  /** Which lines of the file's text stay though a save of the last day left them out. */
  async leftOut(db: Db, path: string, text: string): Promise<string[]> {
    const stands = new Set(plainLines(text));
    const told = (await listCame(db, path)).filter((each) => {
      return stands.has(each.line) && isTold(each, this.#world.now());
    });
    return [...new Set(told.map(({ line }) => line))];
  }

  #clockOf(path: string): ArrivalClock {
    const known = this.#clocks.get(path) ?? new ArrivalClock(this.#world);
    this.#clocks.set(path, known);
    return known;
  }
}

/** Whether a save of the last day has left a line out that stays. */
function isTold({ leftOutAt }: CameLine, now: number): boolean {
  return leftOutAt !== undefined && now - leftOutAt < TOLD_MS;
}

/** What a text was saved that long ago everybody has seen. */
export function isSeenByNow(savedAt: number, now: number): boolean {
  return now - savedAt >= UNSEEN_MS;
}

/** What a save takes away of what its author may not have seen. */
export interface TakenUnseen {
  /** The text of which it is an edit: the one that the file showed, without those lines. */
  readonly base: string;
  readonly lines: readonly string[];
  /** The lines that the save has brought. */
  readonly saved: readonly string[];
}

/**
 * Undefined where a save takes away nothing unseen that stays. `isSame`: whether a line that the
 * save has brought is one that a program has saved here just before, gone on with.
 */
export function takenUnseen(
  sides: SavedOver,
  unseen: readonly CameLine[],
  isSame?: IsSame,
): TakenUnseen | undefined {
  const { taken, brought } = goneUnseen(sides, unseen, isSame);
  const lines = taken.flatMap(({ line, isDisputed }) => (isDisputed ? [] : [line]));
  if (lines.length === 0) return undefined;
  return { base: withoutLast(sides.shown, lines), lines, saved: brought };
}

/** The lines that a save takes away for good, though its author may not have seen them. */
export function disputedLines(
  sides: SavedOver,
  unseen: readonly CameLine[],
  isSame?: IsSame,
): readonly string[] {
  const { taken } = goneUnseen(sides, unseen, isSame);
  return taken.flatMap(({ line, isDisputed }) => (isDisputed ? [line] : []));
}

type IsSame = (line: string, saved: string) => boolean;

function goneUnseen(
  { shown, saved }: SavedOver,
  unseen: readonly CameLine[],
  isSame: IsSame = () => false,
): { readonly taken: readonly CameLine[]; readonly brought: readonly string[] } {
  if (unseen.length === 0) return { taken: [], brought: [] };
  const brought = without(plainLines(saved), plainLines(shown)).filter(
    (line) => line.trim() !== "",
  );
  const gone = without(plainLines(shown), plainLines(saved));
  const open = [...brought];
  const taken: CameLine[] = [];
  for (const each of unseen) {
    const { line, isOwn, isGone } = each;
    const at = isGone ? -1 : gone.indexOf(line);
    if (at === -1) continue;
    gone.splice(at, 1);
    const mended = isOwn ? open.findIndex((other) => isSame(line, other)) : -1;
    if (mended === -1) taken.push(each);
    else open.splice(mended, 1);
  }
  return { taken, brought };
}

/** The lines that a save brings back, and of which its author may not have seen that they left. */
export function returnedUnseen(
  { shown, saved }: SavedOver,
  unseen: readonly CameLine[],
): readonly string[] {
  const left = new Set(unseen.flatMap(({ line, isGone }) => (isGone ? [line] : [])));
  const brought = left.size === 0 ? [] : without(plainLines(saved), plainLines(shown));
  return [...new Set(brought)].filter((line) => left.has(line));
}

/** A text without these lines. Of equal ones the last go. */
function withoutLast(text: string, lines: readonly string[]): string {
  const { form, lines: all } = splitForm(text);
  const left = [...lines];
  const kept = all
    .split("\n")
    .reverse()
    .filter((each) => {
      const at = left.indexOf(withoutMark(each));
      if (at !== -1) left.splice(at, 1);
      return at === -1;
    });
  return joinForm(kept.reverse().join("\n"), form);
}

/** Those of some lines that others do not have, each as often as it is missing there. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

/** The first save counts. */
async function noteLeftOut(db: Db, { id, leftOutAt = Infinity }: CameLine, at: number) {
  if (leftOutAt <= at) return;
  const change = sql<string>`json_set(change, '$.leftOutAt', ${at})`;
  await db.updateTable("file_arrivals").set({ change }).where("id", "=", id).execute();
}

function listCame(db: Db, path: string): Promise<CameLine[]> {
  return listChanges(db, lineArrivalKey(path));
}

/** What it showed before each write of ours. */
function listShown(db: Db, path: string): Promise<({ readonly seen: string } & Seeable)[]> {
  return listChanges(db, shownBeforeKey(path));
}

async function addLine(
  db: Db,
  dir: string,
  { change, at }: { readonly change: object; readonly at: number },
): Promise<number> {
  const { id } = await db
    .insertInto("file_arrivals")
    .values({ dir, arrived_at: at, machine: null, change: JSON.stringify(change) })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

async function listChanges<Change>(db: Db, dir: string): Promise<(Change & ArrivalTime)[]> {
  const rows = await db
    .selectFrom("file_arrivals")
    .select(["id", "arrived_at as at", "change"])
    .where("dir", "=", dir)
    .orderBy("id")
    .execute();
  return rows.map(({ id, at, change }) => ({ id, at, ...JSON.parse(change) }));
}
