import type { Kysely } from "kysely";
import type { DocumentAddress } from "../document/address.ts";
import { type DocumentPart, partAfter } from "./document-parts.ts";
import type { ReplicaTables } from "./tables.ts";

/** However small its document is, a log may keep so many bytes of rows. */
export const ROW_BYTES_KEPT_MIN = 128 * 1024;

/** The documents whose rows take more space than any log may keep. */
export async function documentsWithLargeLogs(
  db: Kysely<ReplicaTables>,
): Promise<DocumentAddress[]> {
  const found: DocumentAddress[] = [];
  for (let part = await partAfter(db, 0); part; part = await partAfter(db, part.through)) {
    found.push(...(await largeAmong(db, part)));
  }
  return found;
}

async function largeAmong(
  db: Kysely<ReplicaTables>,
  { after, through }: DocumentPart,
): Promise<DocumentAddress[]> {
  return await db
    .selectFrom("updates")
    .innerJoin("documents", "documents.id", "updates.document_id")
    .select(["owner", "name"])
    .where("updates.document_id", ">", after)
    .where("updates.document_id", "<=", through)
    // PostgreSQL does not conclude that by itself.
    .where("documents.id", ">", after)
    .where("documents.id", "<=", through)
    .groupBy(["owner", "name"])
    .having(({ fn }) => fn.sum(fn("length", ["payload"])), ">", ROW_BYTES_KEPT_MIN)
    .orderBy("owner")
    .orderBy("name")
    .execute();
}
