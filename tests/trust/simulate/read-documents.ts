import type { Kysely } from "kysely";
import type { DocumentAddress } from "../../../shared/replica/document/address.ts";
import { loadDocument } from "../../../shared/replica/log/log-rows.ts";
import type { ReplicaTables } from "../../../shared/replica/log/tables.ts";
import { commonName } from "./shadow.ts";

/** Every document that a database holds and `wanted` takes, as its updates, by its common name. */
export async function readDocuments<Tables extends ReplicaTables>(
  reader: Kysely<Tables>,
  wanted: (address: DocumentAddress) => boolean = () => true,
): Promise<ReadonlyMap<string, readonly Uint8Array[]>> {
  const db = reader as unknown as Kysely<ReplicaTables>;
  const columns = ["id", "owner", "name"] as const;
  const rows = await db.selectFrom("documents").select(columns).orderBy("id").execute();
  const documents = new Map<string, readonly Uint8Array[]>();
  for (const { id, owner, name } of rows) {
    if (!wanted({ owner, name })) continue;
    documents.set(commonName(name), (await loadDocument(db, id)).updates);
  }
  return documents;
}
