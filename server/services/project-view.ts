import type { Kysely } from "kysely";
import type { Pause } from "../../shared/turns.ts";
import type { Project } from "../../shared/wire/project.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import { connectedByProject, type ReadConnections } from "../stores/connection-store.ts";
import { countMemoriesOf, type ProjectRow, readMetadata } from "../stores/project-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { mayReach } from "./access.ts";
import type { Caller } from "./services.ts";

/** Where projects are read. */
interface ViewedFrom {
  readonly db: Kysely<ServiceTables>;
  readonly pause: Pause;
  readonly connections: ReadConnections;
}

/** Projects as both variants show them, in the given order. `pause` may end the turn. */
export async function viewProjects(
  { db, pause, connections }: ViewedFrom,
  caller: Caller,
  rows: readonly ProjectRow[],
): Promise<Project[]> {
  const ids = rows.map((row) => row.documentId);
  const shown = await readMetadata(db, ids, pause);
  const connected = connectedByProject(await connections(db, caller.account));
  const projects: Project[] = [];
  for (const row of rows) {
    await pause();
    const { metadata = {}, name = row.id } = shown.get(row.documentId) ?? {};
    projects.push({
      id: row.id,
      name,
      metadata,
      memory_count: await countMemoriesOf(db, row.documentId),
      connected_project_ids: (connected.get(row.id) ?? []).filter((id) => mayReach(caller, id)),
      created_at: timestampOf(row.createdAt),
      updated_at: timestampOf(row.updatedAt),
      last_synced_at: row.lastSyncedAt === null ? null : timestampOf(row.lastSyncedAt),
    });
  }
  return projects;
}
