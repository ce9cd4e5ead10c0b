import type { Kysely } from "kysely";
import type { DocumentAddress } from "../document/address.ts";
import type { ReplicaTables } from "./tables.ts";

/** However small its document is, a log may keep so many bytes of rows. */
export const ROW_BYTES_KEPT_MIN = 128 * 1024;

/** The documents whose rows take more space than any log may keep. */
export async function documentsWithLargeLogs(
  db: Kysely<ReplicaTables>,
): Promise<DocumentAddress[]> {
  return await db
    .selectFrom("updates")
    .innerJoin("documents", "documents.id", "updates.document_id")
    .select(["owner", "name"])
    .groupBy(["owner", "name"])
    .having(({ fn }) => fn.sum(fn("length", ["payload"])), ">", ROW_BYTES_KEPT_MIN)
    .orderBy("owner")
    .orderBy("name")
    .execute();
}
