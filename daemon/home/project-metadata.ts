import type { Kysely } from "kysely";
import { type JsonValue, parseJson } from "../../shared/json.ts";
import type { DaemonTables } from "./tables.ts";

/** The value of a metadata key in a project's document; undefined where there is none. */
export async function readProjectMetadata(
  db: Kysely<DaemonTables>,
  project: string,
  key: string,
): Promise<JsonValue | undefined> {
  const row = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select("value")
    .where("documents.name", "=", project)
    .where("metadata.key", "=", key)
    .executeTakeFirst();
  return row && parseJson(row.value);
}
