import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
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

/** Folders that a project was unlinked from, and in which names were ignored. */
export async function listFormerIgnoring(db: Db, project: ProjectId): Promise<string[]> {
  const rows = await db
    .selectFrom("unlinked_folders")
    .innerJoin("ignore_files", "ignore_files.dir", "unlinked_folders.dir")
    .select("ignore_files.dir")
    .distinct()
    .where("unlinked_folders.project_id", "=", project)
    .orderBy("ignore_files.dir")
    .execute();
  return rows.map(({ dir }) => dir);
}

/** What a folder's file named counts no more. */
export async function forgetIgnoreText(db: Db, dir: string): Promise<void> {
  await db.deleteFrom("ignore_files").where("dir", "=", dir).execute();
}

/** A folder was moved to another path. */
export async function moveIgnoreText(db: Db, from: string, to: string): Promise<void> {
  await db.deleteFrom("ignore_files").where("dir", "=", to).execute();
  await db.updateTable("ignore_files").set({ dir: to }).where("dir", "=", from).execute();
}
