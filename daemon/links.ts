import type { Kysely } from "kysely";
import { type ProjectId, parseProjectId } from "../shared/ids.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** A folder whose project is followed. */
export interface Link {
  /** Absolute, with symbolic links resolved. */
  readonly dir: string;
  readonly projectId: ProjectId;
  readonly name: string;
  /** Others' changes are also written into a file that git tracks, or that is missing. */
  readonly write: boolean;
}

/** In the order in which they were linked. */
export async function listLinks(db: Db): Promise<Link[]> {
  const rows = await db
    .selectFrom("links")
    .select(["dir", "project_id", "name", "write"])
    .orderBy("linked_at")
    .orderBy("dir")
    .execute();
  return rows.flatMap((row) => {
    const projectId = parseProjectId(row.project_id);
    if (projectId === undefined) return [];
    return { dir: row.dir, projectId, name: row.name, write: row.write === 1 };
  });
}

/** Adds a link, or gives a known folder's link another project or another consent to write. */
export async function putLink(db: Db, link: Link, now: number): Promise<void> {
  const values = { project_id: link.projectId, name: link.name, write: link.write ? 1 : 0 };
  await db
    .insertInto("links")
    .values({ dir: link.dir, ...values, linked_at: now })
    .onConflict((conflict) => conflict.column("dir").doUpdateSet(values))
    .execute();
}

/** Gives a link's folder another path. False: it was not linked. */
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
