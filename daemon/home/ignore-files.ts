import type { Kysely } from "kysely";
import { compiled } from "../../shared/sqlite/compiled.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** What the file of ignored names in a linked folder last said; undefined: there never was one. */
export async function findIgnoreText(db: Db, dir: string): Promise<string | undefined> {
  const [row] = await findText(db, { dir });
  return row?.text;
}

/** Asked about every folder each minute. */
const findText = compiled((db: Db, { dir }: { readonly dir: string }) =>
  db.selectFrom("ignore_files").select("text").where("dir", "=", dir),
);

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
