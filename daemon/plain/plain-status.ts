import type { Kysely } from "kysely";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import type { DaemonTables } from "../home/tables.ts";
import { listRefused, type Refused, type RefusedKind } from "./plain-store.ts";
import { UNTAKABLE } from "./refusals.ts";

/** What `status` says of a document on a service without a log. */
export interface PlainStatus {
  /** Differences from what the service holds. */
  readonly outstanding: number;
  readonly notes: readonly string[];
}

/** Refused items that are named; of more only the number is. */
const NAMED_MAX = 10;

/** How a document stood after the last reading of it. */
export async function readPlainStatus(
  db: Kysely<DaemonTables>,
  documentId: number,
): Promise<PlainStatus> {
  const row = await db
    .selectFrom("plain_documents")
    .select(["outstanding", "lost_at"])
    .where("document_id", "=", documentId)
    .executeTakeFirst();
  if (!row) return { outstanding: 0, notes: [] };
  const refused = (await listRefused(db, documentId)).map(refusedNote);
  const named = refused.slice(0, NAMED_MAX);
  const more = refused.length - named.length;
  return {
    outstanding: row.outstanding,
    notes: [
      ...(row.lost_at === null ? [] : [lossNote(row.lost_at)]),
      ...named,
      ...(more > 0 ? [`${more} more are refused`] : []),
    ],
  };
}

function lossNote(at: number): string {
  return `the service had lost data at ${timestampOf(at)}; what is held here was uploaded again`;
}

function refusedNote({ kind, key, reason }: Refused): string {
  if (reason === UNTAKABLE)
    return `${nameOf(kind, key)} can't be taken from the service: ${reason}`;
  if (kind === "deletion") return `${key} is deleted here only: ${reason}`;
  return `${nameOf(kind, key)} is refused by the service: ${reason}`;
}

function nameOf(kind: RefusedKind, key: string): string {
  if (kind === "text") return "the description document";
  return kind === "metadata" ? `metadata ${key}` : key;
}
