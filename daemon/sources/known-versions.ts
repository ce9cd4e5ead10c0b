import type { Kysely } from "kysely";
import { isRevision } from "../../shared/replica/revisions.ts";
import type { ReplicaTables } from "../../shared/replica/tables.ts";
import type { DaemonTables } from "../tables.ts";

/** Whether a text is one that the document had before: then it brings nothing new. */
export async function isKnownVersion(
  db: Kysely<DaemonTables>,
  documentId: number,
  content: string,
): Promise<boolean> {
  const replica = db as unknown as Kysely<ReplicaTables>;
  return await isRevision(replica, documentId, { kind: "text", key: "", value: content });
}
