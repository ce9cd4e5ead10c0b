import type { Kysely } from "kysely";
import { waitingSinceKey } from "./line-arrival-key.ts";
import type { DaemonTables } from "./tables.ts";

/** Notes that a file has a text that is not taken yet. Returns since when it has had such texts. */
export async function noteWaiting(
  db: Kysely<DaemonTables>,
  path: string,
  now: number,
): Promise<number> {
  const dir = waitingSinceKey(path);
  const row = await db
    .selectFrom("file_arrivals")
    .select("arrived_at")
    .where("dir", "=", dir)
    .executeTakeFirst();
  if (row) return row.arrived_at;
  const values = { dir, arrived_at: now, machine: null, change: "{}" };
  await db.insertInto("file_arrivals").values(values).execute();
  return now;
}

/** The file's text is taken. Durable with the transaction. */
export async function forgetWaiting(db: Kysely<DaemonTables>, path: string): Promise<void> {
  await db.deleteFrom("file_arrivals").where("dir", "=", waitingSinceKey(path)).execute();
}
