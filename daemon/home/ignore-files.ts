import type { Kysely } from "kysely";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** What the file of ignored names in a linked folder last said; undefined: there never was one. */
export async function findIgnoreText(db: Db, dir: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("ignore_files")
    .select("text")
    .where("dir", "=", dir)
    .executeTakeFirst();
  return row?.text;
}

export async function putIgnoreText(db: Db, dir: string, text: string): Promise<void> {
  await db
    .insertInto("ignore_files")
    .values({ dir, text })
    .onConflict((conflict) => conflict.column("dir").doUpdateSet({ text }))
    .execute();
}

/** The folder is not linked any more. */
export async function forgetIgnoreText(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("ignore_files").where("dir", "=", dir).execute();
}

/** A folder was moved to another path. */
export async function moveIgnoreText(db: Db, from: string, to: string): Promise<void> {
  await forgetIgnoreText(db, to);
  await db.updateTable("ignore_files").set({ dir: to }).where("dir", "=", from).execute();
}
