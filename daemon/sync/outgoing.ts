import type { Kysely } from "kysely";
import * as Y from "yjs";
import { LIMITS } from "../../shared/limits.ts";
import { isEmptyUpdate } from "../../shared/replica/exchange.ts";
import { mergeUpdates } from "../../shared/replica/log-rows.ts";
import type { OpenDocument } from "../../shared/replica/open-document.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import type { DocumentRequest } from "../../shared/wire/exchange.ts";
import type { DaemonTables } from "../tables.ts";
import type { SyncPosition } from "./positions.ts";

/** One document's part of a call, and what of the local log it covers. */
export interface Outgoing {
  readonly request: DocumentRequest;
  /** Rows up to this one are acknowledged when the service takes the request. */
  readonly throughSeq: number;
  /** First contact only fetches; nothing is acknowledged by it. */
  readonly firstContact: boolean;
}

/**
 * What to send of a document. Before first contact: only a question. Then the rows that are not
 * acknowledged, in log order, in parts of at most `LIMITS.exchangePartBytes`; the whole document
 * where nothing was acknowledged yet or `serverVector` says what the service has left.
 */
export async function outgoingOf(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  position: SyncPosition,
  serverVector: Uint8Array | undefined,
): Promise<Outgoing> {
  const { ydoc } = open.document;
  const throughSeq = open.head.seq;
  if (serverVector) {
    const update = Y.encodeStateAsUpdate(ydoc, serverVector);
    const request = { stateVector: Y.encodeStateVector(ydoc), ...unlessEmpty(update) };
    return { request, throughSeq, firstContact: false };
  }
  if (!position.remote) {
    return { request: { stateVector: Y.encodeStateVector(ydoc) }, throughSeq, firstContact: true };
  }
  const request = { position: position.remote };
  if (position.ackedSeq === 0 && throughSeq > 0) {
    const update = Y.encodeStateAsUpdate(ydoc);
    return { request: { ...request, ...unlessEmpty(update) }, throughSeq, firstContact: false };
  }
  const part = await unacknowledged(db, open.id, position.ackedSeq);
  if (!part) return { request, throughSeq, firstContact: false };
  const { update } = part;
  return { request: { ...request, update }, throughSeq: part.throughSeq, firstContact: false };
}

function unlessEmpty(update: Uint8Array): { update?: Uint8Array } {
  return isEmptyUpdate(update) ? {} : { update };
}

/** The next part of the local rows after `ackedSeq`, and the last row that it covers. */
export async function unacknowledged(
  db: Kysely<DaemonTables>,
  documentId: number,
  ackedSeq: number,
): Promise<{ readonly update: Uint8Array; readonly throughSeq: number } | undefined> {
  const rows = await findLocalRows(db, documentId, ackedSeq);
  const part: Uint8Array[] = [];
  let bytes = 0;
  let throughSeq = ackedSeq;
  for (const { seq, payload } of rows) {
    bytes += payload.length;
    if (part.length > 0 && bytes > LIMITS.exchangePartBytes) break;
    part.push(payload);
    throughSeq = seq;
  }
  return part.length === 0 ? undefined : { update: mergeUpdates(part), throughSeq };
}

const findLocalRows = compiled((db: Kysely<DaemonTables>, documentId: number, ackedSeq: number) =>
  db
    .selectFrom("updates")
    .select(["seq", "payload"])
    .where("document_id", "=", documentId)
    .where("seq", ">", ackedSeq)
    .where("origin", "=", "local")
    .orderBy("seq"),
);
