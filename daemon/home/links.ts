import type { Kysely, Selectable } from "kysely";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { parseStored } from "../../shared/json.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** A folder whose project is followed. */
export interface Link {
  /** Absolute, with symbolic links resolved. */
  readonly dir: string;
  readonly projectId: ProjectId;
  readonly name: string;
  /** Others' changes are also written to a file that git tracks, and a missing file is created. */
  readonly write: boolean;
  /** The file that the user chose, by its path from the folder. */
  readonly file?: string | undefined;
  /** Further files that follow the project's text, by their paths from the folder. */
  readonly also?: readonly string[] | undefined;
}

/** In the order in which they were linked. */
export async function listLinks(db: Db): Promise<Link[]> {
  const rows = await db
    .selectFrom("links")
    .select(["dir", "project_id", "name", "write", "file", "also"])
    .orderBy("linked_at")
    .orderBy("dir")
    .execute();
  return rows.flatMap((row) => parseLink(row) ?? []);
}

/** Undefined where the project's id is malformed. */
export function parseLink(
  row: Pick<Selectable<DaemonTables["links"]>, "dir" | "project_id" | "name" | "write" | "file"> &
    Partial<Pick<Selectable<DaemonTables["links"]>, "also">>,
): Link | undefined {
  const projectId = parseProjectId(row.project_id);
  if (projectId === undefined) return undefined;
  const { dir, name, write, file } = row;
  const link = { dir, projectId, name, write: write === 1, ...(file !== null && { file }) };
  return row.also ? { ...link, also: parseStored<string[]>(row.also) } : link;
}

/** A link's columns, without its folder. */
export function valuesOf({ projectId, name, write, file }: Link) {
  return { project_id: projectId, name, write: write ? 1 : 0, ...(file !== undefined && { file }) };
}

/** Adds a link, or changes that of a linked folder. A file that was chosen stays chosen. */
export async function putLink(db: Db, link: Link, now: number): Promise<void> {
  const values = valuesOf(link);
  const also = link.also && { also: link.also.length > 0 ? JSON.stringify(link.also) : null };
  await db
    .insertInto("links")
    .values({ dir: link.dir, ...values, ...also, linked_at: now })
    .onConflict((conflict) => conflict.column("dir").doUpdateSet({ ...values, ...also }))
    .execute();
  const { projectId: project_id, name } = link;
  await db
    .insertInto("project_names")
    .values({ project_id, name })
    .onConflict((conflict) => conflict.column("project_id").doUpdateSet({ name }))
    .execute();
}

/** The name in a project's last link. The project keeps it when it is no longer linked. */
export async function findLinkedName(db: Db, projectId: ProjectId): Promise<string | undefined> {
  const row = await db
    .selectFrom("project_names")
    .select("name")
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  return row?.name;
}

/** Chooses the file that counts, from the folder. */
export async function chooseFile(db: Db, dir: string, file: string): Promise<void> {
  await db.updateTable("links").set({ file }).where("dir", "=", dir).execute();
}

/** Changes the path of a link's folder. False: it was not linked. */
export async function moveLinkTo(db: Db, from: string, to: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("links")
    .set({ dir: to })
    .where("dir", "=", from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False: the folder was not linked. */
export async function removeLink(db: Db, dir: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom("links").where("dir", "=", dir).executeTakeFirst();
  return numDeletedRows > 0n;
}
