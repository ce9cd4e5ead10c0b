import type { Kysely } from "kysely";
import { explain, type Reason, type ReasonCode } from "../../shared/reasons.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import type { DaemonTables } from "../home/tables.ts";
import { listRefused, type RefusedItem, type RefusedKind } from "./plain-store.ts";

/** A remark about a document, in words for people. */
export interface StatusNote {
  readonly code: ReasonCode;
  readonly message: string;
}

/** What `status` says of a document on a service without a log. */
export interface PlainStatus {
  /** How many differences from the service there are. */
  readonly outstanding: number;
  readonly notes: readonly StatusNote[];
}

/** This many refused items are named; of more only the number is told. */
const NAMED_MAX = 10;

/** The state of a document after its last reading. */
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
      ...(row.lost_at === null
        ? []
        : [noteOf({ code: "data-lost", at: timestampOf(row.lost_at) })]),
      ...named,
      ...(more > 0 ? [noteOf({ code: "more-refused", more })] : []),
    ],
  };
}

function noteOf(reason: Reason): StatusNote {
  return { code: reason.code, message: explain(reason) };
}

function refusedNote({ kind, key, reason }: RefusedItem): StatusNote {
  const { code, message } = noteOf(reason);
  return { code, message: `${nameOf(kind, key)} ${howItStands(kind, code)}: ${message}` };
}

function howItStands(kind: RefusedKind, code: ReasonCode): string {
  if (code === "untakable") return "can't be taken from the service";
  if (code === "begins-as-personal") return "is not sent";
  return kind === "deletion" ? "is deleted here only" : "is refused by the service";
}

function nameOf(kind: RefusedKind, key: string): string {
  if (kind === "text") return "the description document";
  return kind === "metadata" ? `metadata ${key}` : key;
}
