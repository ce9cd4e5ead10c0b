import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/**
 * Stands for what a file said that is gone, where a damaged home has lost it: all of its folder
 * stays on this machine.
 */
export const LOST_IGNORED = "#memsync:lost\n*\n";

/** In place of a folder: each one of a person's own memories of which nothing else is known. */
export const ANY_FOLDER = "*";

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

/** What a file said last in a folder that a project has no more, and that may be gone. */
export interface FormerIgnored {
  readonly dir: string;
  readonly text: string;
}

/**
 * A project loses a folder, or another folder has taken its path: what was named there still counts
 * for the project. Several folders may have had one path.
 */
export async function keepFormerIgnored(
  db: Db,
  { dir, projectId: project_id }: { readonly dir: string; readonly projectId: ProjectId },
): Promise<void> {
  const text = await findIgnoreText(db, dir);
  if (text === undefined || text.trim() === "") return;
  await db
    .insertInto("former_ignore_files")
    .values({ project_id, dir, text })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** In an order that depends on them alone. */
export async function listFormerIgnored(db: Db, project: ProjectId): Promise<FormerIgnored[]> {
  return await db
    .selectFrom("former_ignore_files")
    .select(["dir", "text"])
    .where("project_id", "=", project)
    .orderBy("dir")
    .orderBy("text")
    .execute();
}

export async function dropFormerIgnored(
  db: Db,
  project: ProjectId,
  { dir, text }: FormerIgnored,
): Promise<void> {
  await db
    .deleteFrom("former_ignore_files")
    .where("project_id", "=", project)
    .where("dir", "=", dir)
    .where("text", "=", text)
    .execute();
}

/**
 * A project has a folder at `dir`, which was at `from`. What was named there is the folder's again,
 * unless several folders were there.
 */
export async function takeBackIgnored(
  db: Db,
  project: ProjectId,
  { from, dir }: { readonly from: string; readonly dir: string },
): Promise<void> {
  const [former, ...more] = (await listFormerIgnored(db, project)).filter(
    (each) => each.dir === from,
  );
  if (!former || more.length > 0) return;
  const text = await findIgnoreText(db, dir);
  if (text !== undefined && text !== former.text) return;
  await putIgnoreText(db, dir, former.text);
  await dropFormerIgnored(db, project, former);
}

/**
 * What was named in a folder counts for a project no more. What a folder of another project names
 * there still counts for that one.
 */
export async function forgetIgnored(db: Db, project: ProjectId, dir: string): Promise<void> {
  await db
    .deleteFrom("former_ignore_files")
    .where("project_id", "=", project)
    .where("dir", "=", dir)
    .execute();
  const others = db
    .selectFrom("links")
    .select("links.dir")
    .where("links.dir", "=", dir)
    .where("links.project_id", "!=", project);
  await db
    .deleteFrom("ignore_files")
    .where("dir", "=", dir)
    .where(({ not, exists }) => not(exists(others)))
    .execute();
}

/** A folder was moved to another path. */
export async function moveIgnoreText(db: Db, from: string, to: string): Promise<void> {
  await db.deleteFrom("ignore_files").where("dir", "=", to).execute();
  await db.updateTable("ignore_files").set({ dir: to }).where("dir", "=", from).execute();
}
