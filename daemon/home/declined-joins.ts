import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import type { ProjectJoin } from "../../shared/replica/document/project-join.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** Somebody has said that a project stays what it is on this machine, whoever has joined it. */
export async function declineJoin(db: Db, project: ProjectId, join: ProjectJoin): Promise<void> {
  const { of, to, at } = join;
  await db
    .insertInto("declined_joins")
    .values({ project_id: project, repository: of, joined_to: to, joined_at: at })
    .onConflict((conflict) => {
      const key = conflict.columns(["project_id", "repository", "joined_to"]);
      return key.doUpdateSet({ joined_at: at });
    })
    .execute();
}

/** Tells which joins of a project were declined. One that is made again is told again. */
export async function readDeclined(
  db: Db,
  project: ProjectId,
): Promise<(join: ProjectJoin) => boolean> {
  const rows = await db
    .selectFrom("declined_joins")
    .select(["repository", "joined_to", "joined_at"])
    .where("project_id", "=", project)
    .execute();
  return ({ of, to, at }) =>
    rows.some((row) => row.repository === of && row.joined_to === to && row.joined_at === at);
}
