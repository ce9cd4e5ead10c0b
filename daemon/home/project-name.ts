import type { Kysely } from "kysely";
import { PROJECT_NAME_KEY } from "../../shared/replica/document/document.ts";
import { findLinkedName } from "./links.ts";
import type { DaemonTables } from "./tables.ts";

/**
 * What a project is called on this machine, linked or not: as its last link named it, else whoever
 * made it; undefined where nobody did.
 */
export async function findProjectName(
  db: Kysely<DaemonTables>,
  project: string,
): Promise<string | undefined> {
  const linked = await findLinkedName(db, project);
  if (linked !== undefined) return linked;
  const row = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select("value")
    .where("documents.name", "=", project)
    .where("metadata.key", "=", PROJECT_NAME_KEY)
    .executeTakeFirst();
  const name: unknown = row && JSON.parse(row.value);
  return typeof name === "string" && name !== "" ? name : undefined;
}
