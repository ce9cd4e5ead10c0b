import type { Kysely } from "kysely";
import { type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { CONNECTED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<DaemonTables>;

/**
 * The projects that one is connected to, by id, as far as this home has them. Both documents have
 * to say so, and both have to be bound to one remote: whoever can write into one project must not
 * bring another one of this machine into view.
 */
export async function listConnected(db: Db, project: ProjectId): Promise<ProjectId[]> {
  const account = await accountOf(db, project);
  const found: ProjectId[] = [];
  for (const other of await namedIn(db, project)) {
    if ((await accountOf(db, other)) !== account) continue;
    if ((await namedIn(db, other)).includes(project)) found.push(other);
  }
  return found;
}

async function accountOf(db: Db, project: ProjectId) {
  return (await findBinding(db, project)) ?? LOCAL_ACCOUNT;
}

async function namedIn(db: Db, project: ProjectId): Promise<ProjectId[]> {
  const rows = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select("metadata.key")
    .where("documents.name", "=", project)
    .where("metadata.key", "like", `${CONNECTED_PREFIX}%`)
    .orderBy("metadata.key")
    .execute();
  return rows.flatMap(({ key }) => parseProjectId(key.slice(CONNECTED_PREFIX.length)) ?? []);
}
