import { type Kysely, type Selectable, sql } from "kysely";
import { parseStored } from "../../../shared/json.ts";
import type { DaemonTables, FileArrivalsTable } from "../../home/tables.ts";
import type { ArrivalClock } from "./arrival-clock.ts";
import type { Arrival, ArrivalTime, Brought, FileChange } from "./arrivals.ts";

type Db = Kysely<DaemonTables>;

/**
 * Longer than any save is in doubt, so that text that returns is known to have been there before.
 */
const KEPT_MS = 10 * 60_000;

const IS_SEEN = sql`json_extract(change, '$.isSeen')`;

/**
 * The characters that came into a folder's file lately. Without the lines that left, which are
 * many.
 */
export async function listBrought(db: Db, dir: string): Promise<Brought[]> {
  const rows = await selectArrivals(db, dir)
    .select(["id", sql<string>`json_extract(change, '$.brought')`.as("brought")])
    .execute();
  return rows.map(({ id, brought }) => ({ id, brought: JSON.parse(brought) }));
}

/**
 * The changes in a folder's file that the author of a save may not have seen, in order. The save's
 * time says too little: others may have been made before it that no look has found, by a program
 * that had not seen the change. So a look has to have found it; see `noteSeen`.
 */
export async function listUnseen(
  db: Db,
  dir: string,
  { clock, savedAt }: { readonly clock: ArrivalClock; readonly savedAt: number },
): Promise<Arrival[]> {
  const times = await selectArrivals(db, dir)
    .select(["id", "arrived_at as at", sql<number | null>`${IS_SEEN}`.as("isSeen")])
    .execute();
  const young = clock.unseenAt(times, savedAt);
  const ids = times.filter((each) => !each.isSeen || young.includes(each)).map(({ id }) => id);
  if (ids.length === 0) return [];
  const rows = await selectArrivals(db, dir).selectAll().where("id", "in", ids).execute();
  return rows.map(arrivalOf);
}

function selectArrivals(db: Db, dir: string) {
  return db.selectFrom("file_arrivals").where("dir", "=", dir).orderBy("id");
}

function arrivalOf(row: Selectable<FileArrivalsTable>): Arrival {
  const { id, arrived_at: at, machine, change } = row;
  return { id, at, machine: machine ?? undefined, ...parseStored<FileChange>(change) };
}

/** Records that a change comes into a folder's file. Returns its id. */
export async function addArrival(
  db: Db,
  dir: string,
  {
    change,
    arrival: { at, machine },
  }: { readonly change: FileChange; readonly arrival: Pick<Arrival, "at" | "machine"> },
): Promise<number> {
  const { id } = await db
    .insertInto("file_arrivals")
    .values({
      dir,
      arrived_at: at,
      machine: machine ?? null,
      change: JSON.stringify(change),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** The changes that no look has found a minute after they came. */
export async function listUnfound(db: Db, dir: string): Promise<(ArrivalTime & Brought)[]> {
  const rows = await selectArrivals(db, dir)
    .where(IS_SEEN, "is", null)
    .select(["id", "arrived_at as at"])
    .select(sql<string>`json_extract(change, '$.brought')`.as("brought"))
    .execute();
  return rows.map(({ id, at, brought }) => ({ id, at, brought: JSON.parse(brought) }));
}

/** A look has found these. */
export async function markArrivalsSeen(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const change = sql<string>`json_set(change, '$.isSeen', json('true'))`;
  await db.updateTable("file_arrivals").set({ change }).where("id", "in", ids).execute();
}

/**
 * Forgets the changes that everybody has seen by now. A wall clock that somebody has set ahead does
 * not make one old that this process has just seen come.
 */
export async function forgetSeen(
  db: Db,
  dir: string,
  {
    clock,
    now,
    isFoundOnly = false,
  }: {
    readonly clock: ArrivalClock;
    readonly now: number;
    /** What no look has found is in doubt, however long ago it came. */
    readonly isFoundOnly?: boolean;
  },
): Promise<void> {
  await db
    .deleteFrom("file_arrivals")
    .where("dir", "=", dir)
    .where("arrived_at", "<", now - KEPT_MS)
    .where("id", "not in", clock.cameWithin(KEPT_MS))
    .$if(isFoundOnly, (found) => found.where(IS_SEEN, "is not", null))
    .execute();
}

export async function forgetArrivals(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("file_arrivals").where("dir", "=", dir).execute();
}

/** A folder was moved to another path. */
export async function moveArrivals(db: Db, from: string, to: string): Promise<void> {
  await db.updateTable("file_arrivals").set({ dir: to }).where("dir", "=", from).execute();
}
