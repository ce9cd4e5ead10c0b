import type { Kysely } from "kysely";
import type { DaemonTables } from "../tables.ts";

/** Whether a text is one that the document had before: then it brings nothing new. */
export async function isKnownVersion(
  db: Kysely<DaemonTables>,
  documentId: number,
  content: string,
): Promise<boolean> {
  const row = await db
    .selectFrom("revisions")
    .select("id")
    .where("document_id", "=", documentId)
    .where("kind", "=", "text")
    .where("key", "=", "")
    .where("value", "=", content)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
