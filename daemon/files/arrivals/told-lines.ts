import type { Kysely } from "kysely";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { World } from "../../../shared/world.ts";
import { hashOf } from "../../disk/read-file.ts";
import {
  keptLineKey,
  settledLineKey,
  takenOutKey,
  toldLineKey,
} from "../../home/line-arrival-key.ts";
import type { DaemonTables } from "../../home/tables.ts";
import {
  addLine,
  type CameLine,
  forgetLine,
  listCame,
  listChanges,
  unsetLeftOut,
} from "./line-arrival-store.ts";
import { linesWithout } from "./unseen-lines.ts";

type Db = WriteContext<DaemonTables>["db"];

/**
 * What somebody is told of a line, for a day. `line-kept`: a save left it out that may not have
 * seen it, and it stays. `line-elsewhere`: the same, in the memory alone, for the file is only
 * read. `line-returned`: a save brought it back that may not have seen that it was taken out.
 * `line-undone`: it was taken out here, and somebody else's version brought it back. `line-gone`: a
 * save took it away once more, which may never have seen it. `line-dropped`: somebody here has
 * decided that it stays, and others have taken it out. `line-waits`: somebody has decided
 * about it, and the file is not to be written yet, or has no room for it.
 */
export type ToldCode =
  | "line-kept"
  | "line-elsewhere"
  | "line-returned"
  | "line-undone"
  | "line-gone"
  | "line-dropped"
  | "line-waits";

/** A line of which somebody is told. */
export interface ToldLine {
  readonly code: ToldCode;
  readonly line: string;
  /** How a command names it. */
  readonly id: string;
}

/** What somebody has decided about a line: whether it is to stand in the text. */
export interface SettledLine {
  readonly line: string;
  readonly as: "drop" | "keep";
}

/** A file's text before and after a write or a save. */
interface Change {
  readonly from: string;
  readonly to: string;
}

/** What decisions about lines have come to. */
export interface SettledChange extends Change {
  /** Those that the text has now. */
  readonly done: readonly SettledLine[];
}

const TOLD_MS = 24 * 60 * 60_000;
/**
 * Who has taken a line out is told for so long that it is there again, and who has decided that one
 * stays, that a save took it out.
 */
const REMEMBERED_MS = 30 * TOLD_MS;

/** Which lines of files of whole values people are told of. They are in the home. */
export class ToldLines {
  readonly #world: Pick<World, "now">;

  constructor(world: Pick<World, "now">) {
    this.#world = world;
  }

  /** From now on these are told. */
  async note(db: Db, path: string, told: Pick<ToldLine, "code"> & { lines: readonly string[] }) {
    const [dir, at] = [toldLineKey(path), this.#world.now()];
    await forgetBefore(db, dir, at - TOLD_MS);
    const { code } = told;
    for (const line of new Set(told.lines)) await addLine(db, dir, { change: { line, code }, at });
  }

  /**
   * Somebody has saved here. Returns what he has brought back that was taken out here less than so
   * long before.
   */
  async noteSave(
    db: Db,
    path: string,
    { from, to, withinMs = 0 }: Change & { readonly withinMs?: number },
  ): Promise<string[]> {
    const [dir, now] = [takenOutKey(path), this.#world.now()];
    await forgetBefore(db, dir, now - REMEMBERED_MS);
    const brought = new Set(linesWithout(plainLines(to), plainLines(from)));
    const known = await listChanges<CameLine>(db, dir);
    const back = known.filter(({ line }) => brought.has(line));
    for (const { id } of back) await forgetLine(db, id);
    const gone = new Set(linesWithout(plainLines(from), plainLines(to)));
    await forgetAbout(db, keptLineKey(path), gone);
    for (const line of gone) {
      if (line.trim() !== "") await addLine(db, dir, { change: { line }, at: now });
    }
    return back.flatMap(({ at, line }) => (now - at < withinMs ? [line] : []));
  }

  /**
   * A write of ours changes the file: what it brings back that was taken out here is told, and what
   * it takes out that was to stay.
   */
  async noteWritten(db: Db, path: string, change: Change): Promise<void> {
    const brought = new Set(linesWithout(plainLines(change.to), plainLines(change.from)));
    await this.#noteDropped(db, path, { ...change, brought });
    if (brought.size > 0) await this.#noteUndone(db, path, brought);
  }

  async #noteDropped(
    db: Db,
    path: string,
    { from, to, brought }: Change & { readonly brought: ReadonlySet<string> },
  ): Promise<void> {
    const gone = new Set(linesWithout(plainLines(from), plainLines(to)));
    const decided = await decidedLines(db, path, this.#world.now());
    const dropped = decided.filter(({ line }) => gone.has(line));
    if (dropped.length === 0) return;
    await forgetAbout(db, keptLineKey(path), new Set(dropped.map(({ line }) => line)));
    // Or somebody has gone on with it.
    const goesOn = (line: string) => [...brought].some((each) => each.startsWith(line));
    const lines = dropped.flatMap(({ line }) => (goesOn(line) ? [] : [line]));
    await this.note(db, path, { code: "line-dropped", lines });
  }

  async #noteUndone(db: Db, path: string, brought: ReadonlySet<string>): Promise<void> {
    const taken = await listChanges<CameLine>(db, takenOutKey(path));
    const back = taken.filter(({ line }) => brought.has(line));
    if (back.length === 0) return;
    for (const { id } of back) await forgetLine(db, id);
    // A save that had not seen them left these out; see `line-kept`.
    const kept = await this.keptLines(db, path);
    const lines = back.flatMap(({ line }) => (kept.has(line) ? [] : [line]));
    await this.note(db, path, { code: "line-undone", lines });
  }

  /** Lines that a save of the last day has left out, and that stay. */
  async keptLines(db: Db, path: string): Promise<Set<string>> {
    const now = this.#world.now();
    const came = (await listCame(db, path)).filter((each) => isLeftOut(each, now));
    const noted = await listChanges<Pick<ToldLine, "code" | "line">>(db, toldLineKey(path));
    const told = noted.filter(({ code, at }) => code === "line-kept" && now - at < TOLD_MS);
    return new Set([...came, ...told].map(({ line }) => line));
  }

  /** What is told of a file that has this text. */
  told(db: Kysely<DaemonTables>, path: string, text: string): Promise<ToldLine[]> {
    return listTold(db, { path, text, now: this.#world.now() });
  }

  /** What was decided about lines of a file, and has not come about. */
  async settled(db: Db, path: string): Promise<SettledLine[]> {
    const rows = await listChanges<SettledLine>(db, settledLineKey(path));
    return rows.map(({ line, as }) => ({ line, as }));
  }

  /** Decisions have come about; of their lines nothing is told any more. */
  async noteSettled(db: Db, path: string, { done, ...change }: SettledChange): Promise<void> {
    const lines = new Set(done.map(({ line }) => line));
    for (const keyOf of [settledLineKey, toldLineKey, takenOutKey, keptLineKey]) {
      await forgetAbout(db, keyOf(path), lines);
    }
    for (const came of await listCame(db, path)) {
      if (lines.has(came.line)) await unsetLeftOut(db, came);
    }
    if (change.from !== change.to) await this.noteSave(db, path, change);
    const [dir, at] = [keptLineKey(path), this.#world.now()];
    await forgetBefore(db, dir, at - REMEMBERED_MS);
    for (const { line, as } of done) {
      if (as === "keep") await addLine(db, dir, { change: { line, isOwn: true }, at });
    }
  }
}

/**
 * The lines of a file that somebody has decided to have in it: a save that lacks one comes from a
 * program that has never read it as likely as from somebody who means it. Until the first such
 * save, whatever became of the line then.
 */
export async function decidedLines(
  db: Kysely<DaemonTables>,
  path: string,
  now: number,
): Promise<CameLine[]> {
  const kept = await listChanges<CameLine>(db, keptLineKey(path));
  return kept.flatMap((each) => {
    return now - each.at < REMEMBERED_MS ? [{ ...each, isDisputed: true, isDecided: true }] : [];
  });
}

/** These lines were taken out here, and whoever did so has them back: that is nothing to tell. */
export async function forgetTakenOut(
  db: Db,
  path: string,
  isBack: (line: string) => boolean,
): Promise<void> {
  for (const { id, line } of await listChanges<CameLine>(db, takenOutKey(path))) {
    if (isBack(line)) await forgetLine(db, id);
  }
}

async function forgetAbout(db: Db, dir: string, lines: ReadonlySet<string>): Promise<void> {
  if (lines.size === 0) return;
  for (const { id, line } of await listChanges<CameLine>(db, dir)) {
    if (lines.has(line)) await forgetLine(db, id);
  }
}

/** These are told of lines that the file does not have. */
const ABSENT: ReadonlySet<ToldCode> = new Set(["line-gone", "line-dropped", "line-elsewhere"]);

/** What is told of a file that has this text, each line once. */
export async function listTold(
  db: Kysely<DaemonTables>,
  { path, text, now }: { readonly path: string; readonly text: string; readonly now: number },
): Promise<ToldLine[]> {
  const stands = new Set(plainLines(text));
  const noted = await listChanges<Pick<ToldLine, "code" | "line">>(db, toldLineKey(path));
  const kept = (await listCame(db, path)).filter((each) => isLeftOut(each, now));
  const settled = await listChanges<SettledLine>(db, settledLineKey(path));
  const all = [
    ...noted.filter(({ at }) => now - at < TOLD_MS),
    ...kept.map(({ line }) => ({ code: "line-kept" as const, line })),
  ];
  const open = all.filter(({ code, line }) => stands.has(line) === !ABSENT.has(code));
  const waiting = settled.map(({ line }) => ({ code: "line-waits" as const, line }));
  const told = new Map(
    [...open, ...waiting].map(({ code, line }) => [line, { code, line, id: idOf(path, line) }]),
  );
  return [...told.values()];
}

/** Notes what somebody has decided, in place of what was decided before. A look does it. */
export async function settleLine(
  db: Kysely<DaemonTables>,
  path: string,
  { at, ...settled }: SettledLine & { readonly at: number },
): Promise<void> {
  const dir = settledLineKey(path);
  for (const { id, line } of await listChanges<SettledLine>(db, dir)) {
    if (line === settled.line) await forgetLine(db, id);
  }
  await addLine(db, dir, { change: settled, at });
}

/** Whether a save of the last day has left a line out that stays. */
export function isLeftOut({ leftOutAt }: CameLine, now: number): boolean {
  return leftOutAt !== undefined && now - leftOutAt < TOLD_MS;
}

const ID_CHARS = 8;

function idOf(path: string, line: string): string {
  return hashOf(`${path}\n${line}`).slice(0, ID_CHARS);
}

async function forgetBefore(db: Db, dir: string, at: number): Promise<void> {
  const older = db.deleteFrom("file_arrivals").where("arrived_at", "<", at);
  await older.where("dir", "=", dir).execute();
}
