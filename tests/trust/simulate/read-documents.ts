import type { Kysely } from "kysely";
import { loadDocument } from "../../../shared/replica/log-rows.ts";
import type { ReplicaTables } from "../../../shared/replica/tables.ts";
import { commonName } from "./shadow.ts";

/** Every document that a database holds, as its updates, by its common name. */
export async function readDocuments<Tables extends ReplicaTables>(
  reader: Kysely<Tables>,
): Promise<ReadonlyMap<string, readonly Uint8Array[]>> {
  const db = reader as unknown as Kysely<ReplicaTables>;
  const rows = await db.selectFrom("documents").select(["id", "name"]).orderBy("id").execute();
  const documents = new Map<string, readonly Uint8Array[]>();
  for (const { id, name } of rows) {
    documents.set(commonName(name), (await loadDocument(db, id)).updates);
  }
  return documents;
}
