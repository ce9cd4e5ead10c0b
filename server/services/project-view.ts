import type { Kysely } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { Project } from "../../shared/wire/project.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import { connectedTo, listConnections } from "../stores/connection-store.ts";
import { type ProjectRow, readMetadata } from "../stores/project-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { mayReach } from "./access.ts";
import type { Caller } from "./services.ts";

/** Key of the metadata entry that carries a project's name. */
const NAME_KEY = "memsync.name";

/** A project's name; its id if it has none. */
export function projectNameOf(id: ProjectId, own: JsonObject | undefined): string {
  const name = own?.[NAME_KEY];
  return typeof name === "string" ? name : id;
}

/** Projects as both variants show them, in the given order. */
export async function viewProjects(
  db: Kysely<ServiceTables>,
  caller: Caller,
  rows: readonly ProjectRow[],
): Promise<Project[]> {
  const ids = rows.map((row) => row.documentId);
  const metadata = await readMetadata(db, ids);
  const counts = await countByDocument(db, ids);
  const pairs = await listConnections(db, caller.account);
  return rows.map((row) => ({
    id: row.id,
    name: projectNameOf(row.id, metadata.get(row.documentId)?.own),
    metadata: metadata.get(row.documentId)?.metadata ?? {},
    memory_count: counts.get(row.documentId) ?? 0,
    connected_project_ids: connectedTo(pairs, row.id).filter((id) => mayReach(caller, id)),
    created_at: timestampOf(row.createdAt),
    updated_at: timestampOf(row.updatedAt),
    last_synced_at: row.lastSyncedAt === null ? null : timestampOf(row.lastSyncedAt),
  }));
}

async function countByDocument(
  db: Kysely<ServiceTables>,
  ids: readonly number[],
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("memories")
    .select((select) => ["document_id", select.fn.countAll<number>().as("count")])
    .where("document_id", "in", ids)
    .groupBy("document_id")
    .orderBy("document_id")
    .execute();
  return new Map(rows.map((row) => [row.document_id, Number(row.count)]));
}
