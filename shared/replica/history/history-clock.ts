import type { Kysely } from "kysely";
import type { ReplicaTables } from "../log/tables.ts";

type Db = Kysely<ReplicaTables>;
type HistoryClock = ReplicaTables["history_clock"];

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Sweeps come every hour. A clock that differs more from the last one may have been set wrongly.
 */
const STEP_MS_MAX = 2 * DAY_MS;

/** A clock that has jumped is believed once it has run on for this long. */
const DOUBTED_MS = DAY_MS;

/** The key of the table's only row. */
const ID = 1;

/**
 * The time by which histories age, in milliseconds since the Unix epoch. Never later than what a
 * sweep has confirmed, because a clock that was wrong for a moment would delete everything for
 * good.
 */
export async function historyTime(db: Db, now: number): Promise<number> {
  const clock = await readClock(db);
  return clock ? Math.min(now, clock.trusted_at) : now;
}

/** The time for one sweep. */
export interface SweepTime {
  /** The time by which to age. */
  readonly time: number;
  /** The clock differs much from before, so times may still have to be corrected. */
  readonly isDoubted: boolean;
}

/**
 * Begins a sweep: checks the clock. If it continues from the last sweep, revisions since then get
 * no earlier time than that sweep's. In a write transaction.
 */
export async function beginSweep(db: Db, now: number): Promise<SweepTime> {
  const clock = await readClock(db);
  if (clock && isNear(clock, now)) await mendTimes(db, clock);
  const seen = clock ? lookedAt(clock, now) : { trusted_at: now, doubted_at: null };
  const isDoubted = seen.doubted_at !== null;
  const last = isDoubted ? clock?.last_revision : await lastRevision(db);
  const next = { id: ID, ...seen, last_revision: last ?? 0 };
  await db
    .insertInto("history_clock")
    .values(next)
    .onConflict((conflict) => conflict.column("id").doUpdateSet(next))
    .execute();
  return { time: Math.min(now, next.trusted_at), isDoubted };
}

/**
 * Records that a sweep has packed rows, because their ids may be reused. In a write transaction.
 */
export async function notePacked(db: Db): Promise<void> {
  await db
    .updateTable("history_clock")
    .set({ last_revision: await lastRevision(db) })
    .execute();
}

async function lastRevision(db: Db): Promise<number> {
  const { last } = await db
    .selectFrom("revisions")
    .select((select) => select.fn.max<number | null>("id").as("last"))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

async function readClock(db: Db): Promise<HistoryClock | undefined> {
  return await db
    .selectFrom("history_clock")
    .select(["id", "trusted_at", "doubted_at", "last_revision"])
    .executeTakeFirst();
}

function isNear({ trusted_at }: HistoryClock, now: number): boolean {
  return Math.abs(now - trusted_at) <= STEP_MS_MAX;
}

function lookedAt(
  clock: HistoryClock,
  now: number,
): Pick<HistoryClock, "trusted_at" | "doubted_at"> {
  const { trusted_at, doubted_at } = clock;
  const isSure = doubted_at !== null && now - doubted_at >= DOUBTED_MS;
  if (isNear(clock, now) || isSure) return { trusted_at: now, doubted_at: null };
  const isSame = doubted_at !== null && doubted_at <= now;
  return { trusted_at, doubted_at: isSame ? doubted_at : now };
}

/**
 * Mends what came since the last sweep, because rows are copied next that are as old as they say;
 * `notePacked` has to follow them. In a write transaction.
 */
export async function mendBeforeCopy(db: Db, now: number): Promise<void> {
  const clock = await readClock(db);
  if (clock && isNear(clock, now)) await mendTimes(db, clock);
}

/** A revision newer than a sweep can't be years older than it: the clock was wrong then. */
async function mendTimes(db: Db, { trusted_at, last_revision }: HistoryClock): Promise<void> {
  await db
    .updateTable("revisions")
    .set({ replaced_at: trusted_at })
    .where("id", ">", last_revision)
    .where("replaced_at", "<", trusted_at - STEP_MS_MAX)
    .execute();
}
