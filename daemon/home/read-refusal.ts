import type { Kysely } from "kysely";
import { parseReason, type Reason } from "../../shared/reasons.ts";
import type { DocumentAddress } from "../../shared/replica/document/address.ts";
import type { DaemonTables } from "./tables.ts";

/** Why a service last refused a document of an account; undefined where it did not. */
export async function readRefusal(
  db: Kysely<DaemonTables>,
  service: string,
  { owner, name }: DocumentAddress,
): Promise<Reason | undefined> {
  const row = await db
    .selectFrom("sync_positions")
    .innerJoin("documents", "documents.id", "sync_positions.document_id")
    .select("sync_positions.refused")
    .where("sync_positions.service", "=", service)
    .where("documents.owner", "=", owner)
    .where("documents.name", "=", name)
    .executeTakeFirst();
  return row?.refused ? parseReason(row.refused) : undefined;
}
