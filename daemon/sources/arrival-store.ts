import type { Kysely } from "kysely";
import type { DaemonTables } from "../tables.ts";
import type { Arrival, FileChange } from "./arrivals.ts";

type Db = Kysely<DaemonTables>;

/** Longer than any save is doubted for, so that what comes back is known to have come before. */
const KEPT_MS = 10 * 60_000;

/** What came into a folder's file lately, in order. */
export async function listArrivals(db: Db, dir: string): Promise<Arrival[]> {
  const rows = await db
    .selectFrom("file_arrivals")
    .selectAll()
    .where("dir", "=", dir)
    .orderBy("id")
    .execute();
  return rows.map(({ id, arrived_at: at, machine, change }) => {
    return { id, at, machine: machine ?? undefined, ...(JSON.parse(change) as FileChange) };
  });
}

/** Notes that a change comes into a folder's file, and gives its id. */
export async function addArrival(
  db: Db,
  dir: string,
  change: FileChange,
  { at, machine }: Pick<Arrival, "at" | "machine">,
): Promise<number> {
  await db
    .deleteFrom("file_arrivals")
    .where("dir", "=", dir)
    .where("arrived_at", "<", at - KEPT_MS)
    .execute();
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

export async function forgetArrivals(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("file_arrivals").where("dir", "=", dir).execute();
}

/** A folder's path is another now. */
export async function moveArrivals(db: Db, from: string, to: string): Promise<void> {
  await db.updateTable("file_arrivals").set({ dir: to }).where("dir", "=", from).execute();
}
