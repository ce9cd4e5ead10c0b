import type { Kysely } from "kysely";
import * as Y from "yjs";
import { LIMITS } from "../../shared/limits.ts";
import { layerOf } from "../../shared/replica/document/address.ts";
import {
  checkPayloads,
  findSnapshot,
  mergeUpdates,
  snapshotUpdate,
} from "../../shared/replica/log/log-rows.ts";
import { isEmptyUpdate } from "../../shared/replica/store/exchange.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import {
  broughtIn,
  deletedIn,
  difference,
  type IdRanges,
  union,
} from "../../shared/replica/text/id-ranges.ts";
import { parseRemoved, type RemovedText } from "../../shared/replica/text/removed-text.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { DocumentRequest } from "../../shared/wire/exchange.ts";
import type { SyncPosition } from "./positions.ts";
import type { DaemonTables } from "./tables.ts";

/** A document's part of a call, and how much of the local log it covers. */
export interface Outgoing {
  readonly request: DocumentRequest;
  /** If the service takes the request, rows up to this one are acknowledged. */
  readonly throughSeq: number;
  /** First contact only fetches. It acknowledges nothing. */
  readonly firstContact: boolean;
  /** There are more rows after `throughSeq` to send. */
  readonly more: boolean;
}

/**
 * What to send of a document. Before first contact: only a question. After it: the rows that are
 * not acknowledged, in log order, in parts of at most `LIMITS.exchangePartBytes`; or the whole
 * document, if no row was acknowledged yet. Of `user` and `global`, where the token was refused:
 * only a question, whose answer tells whether it reaches them at all. Rows after `untilSeq`, if
 * given, stay here.
 */
export async function outgoingOf(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  { untilSeq = open.head.seq, ...position }: SyncPosition & { readonly untilSeq?: number },
): Promise<Outgoing> {
  const throughSeq = Math.min(untilSeq, open.head.seq);
  const whole = { throughSeq, firstContact: false, more: false };
  if (!position.remote) {
    return {
      request: { stateVector: Y.encodeStateVector(open.document.ydoc) },
      ...whole,
      firstContact: true,
    };
  }
  const request = { position: position.remote };
  if (isForbidden(open, position)) {
    const { ackedSeq } = position;
    return { request, throughSeq: ackedSeq, firstContact: false, more: throughSeq > ackedSeq };
  }
  if (position.ackedSeq === 0 && throughSeq > 0) {
    const update = await wholeUntil(db, open, throughSeq);
    if (!update) return { request, throughSeq: 0, firstContact: false, more: false };
    return { request: { ...request, ...unlessEmpty(update) }, ...whole };
  }
  const part = await unacknowledged(db, open.id, { ...position, untilSeq });
  if (!part) return { request, ...whole };
  const { update, ...covered } = part;
  return { request: { ...request, update }, firstContact: false, ...covered };
}

/** A document without the rows after `seq`; undefined where a snapshot has them as well. */
async function wholeUntil(
  db: Kysely<DaemonTables>,
  open: OpenDocument,
  seq: number,
): Promise<Uint8Array | undefined> {
  if (seq === open.head.seq) return Y.encodeStateAsUpdate(open.document.ydoc);
  const snapshot = await findSnapshot(narrowTables(db), open.id);
  const first = snapshot && snapshot.seq <= seq ? snapshot : undefined;
  const rows = await db
    .selectFrom("updates")
    .select(["seq", "payload", "checksum"])
    .where("document_id", "=", open.id)
    .where("seq", ">", first?.seq ?? 0)
    .where("seq", "<=", seq)
    .orderBy("seq")
    .execute();
  if (rows.length !== seq - (first?.seq ?? 0)) return undefined;
  checkPayloads(open.id, rows);
  return mergeUpdates([
    ...(first ? [snapshotUpdate(first)] : []),
    ...rows.map(({ payload }) => payload),
  ]);
}

function isForbidden({ address }: OpenDocument, { refused }: SyncPosition): boolean {
  if (layerOf(address.name) === "project") return false;
  return refused?.code === "out-of-reach" || refused?.code === "token-forbids";
}

function unlessEmpty(update: Uint8Array): { update?: Uint8Array } {
  return isEmptyUpdate(update) ? {} : { update };
}

/** Local rows merged into one update, as many as fit into one call. */
export interface OutgoingPart {
  readonly update: Uint8Array;
  /** The last row that it covers. */
  readonly throughSeq: number;
  readonly more: boolean;
}

/**
 * The next part of the local rows after `ackedSeq`, and up to `untilSeq`; undefined where there are
 * none. Throws `CorruptDocumentError`: damaged data must not be sent.
 */
export async function unacknowledged(
  db: Kysely<DaemonTables>,
  documentId: number,
  {
    ackedSeq,
    untilSeq = Number.POSITIVE_INFINITY,
  }: { readonly ackedSeq: number; readonly untilSeq?: number },
): Promise<OutgoingPart | undefined> {
  const all = await findLocalRows(db, { documentId, ackedSeq });
  const rows = all.filter(({ seq }) => seq <= untilSeq);
  checkPayloads(documentId, rows);
  const part: Uint8Array[] = [];
  let bytes = 0;
  let throughSeq = ackedSeq;
  for (const { seq, payload } of rows) {
    bytes += payload.length;
    if (part.length > 0 && bytes > LIMITS.exchangePartBytes) break;
    part.push(payload);
    throughSeq = seq;
  }
  if (part.length === 0) return undefined;
  return { update: mergeUpdates(part), throughSeq, more: part.length < rows.length };
}

/** The local rows after `ackedSeq`, by what an update brings back of them. */
export interface LocalRows {
  /** What comes back, as one update. */
  readonly sent: Uint8Array;
  /** The ids of what was deleted behind that, by whoever writes here. */
  readonly deletedLater: IdRanges;
  /** The ids of what was deleted only to put in order what others wrote. */
  readonly putInOrder: IdRanges;
}

/**
 * Which of the local rows after `ackedSeq` an update brings back: the service has them, and the
 * answer that acknowledges them was lost, or is still to come. It got them in log order, so they
 * are the first ones. Rows of deletions alone count only before one that brought something: others
 * may have deleted the same. Undefined if there are none.
 */
export async function echoIn(
  db: Kysely<DaemonTables>,
  documentId: number,
  { ackedSeq, update }: { readonly ackedSeq: number; readonly update: Uint8Array },
): Promise<LocalRows | undefined> {
  const [brought, deleted] = [broughtIn(update), deletedIn(update)];
  const rows = await localRowsSince(db, documentId, ackedSeq);
  let count = 0;
  for (const [at, { payload }] of rows.entries()) {
    const own = broughtIn(payload);
    const lacking = [difference(own, brought), difference(deletedIn(payload), deleted)];
    if (lacking.some(({ size }) => size > 0)) break;
    if (own.size > 0) count = at + 1;
  }
  if (count === 0) return undefined;
  const deletedBy = (some: readonly LocalRow[]) =>
    some.map(({ payload }) => deletedIn(payload)).reduce(union, NONE);
  return {
    sent: mergeUpdates(rows.slice(0, count).map(({ payload }) => payload)),
    deletedLater: deletedBy(rows.slice(count).filter(({ isOrder }) => !isOrder)),
    putInOrder: deletedBy(rows.filter(({ isOrder }) => isOrder)),
  };
}

const NONE: IdRanges = new Map();

interface LocalRow {
  readonly payload: Uint8Array;
  /** Nobody's edit: made in the commit that brought what others wrote. */
  readonly isOrder: boolean;
}

async function localRowsSince(
  db: Kysely<DaemonTables>,
  documentId: number,
  ackedSeq: number,
): Promise<LocalRow[]> {
  const rows = await db
    .selectFrom("updates")
    .select(["seq", "payload", "origin", "committed_at"])
    .where("document_id", "=", documentId)
    .where("seq", ">=", ackedSeq)
    .orderBy("seq")
    .execute();
  return rows.flatMap(({ seq, payload, origin, committed_at: at }, i) => {
    if (origin !== "local" || seq === ackedSeq) return [];
    const before = rows[i - 1];
    return { payload, isOrder: before?.origin === "remote" && before.committed_at === at };
  });
}

/** This machine's rows after `ackedSeq`, oldest first. */
export const findLocalRows = compiled(
  (
    db: Kysely<DaemonTables>,
    { documentId, ackedSeq }: { readonly documentId: number; readonly ackedSeq: number },
  ) =>
    db
      .selectFrom("updates")
      .select(["seq", "payload", "checksum"])
      .where("document_id", "=", documentId)
      .where("seq", ">", ackedSeq)
      .where("origin", "=", "local")
      .orderBy("seq"),
);

/** The client ids of what this machine wrote, as far back as its log goes. */
export async function clientsHere(
  db: Kysely<DaemonTables>,
  documentId: number,
): Promise<ReadonlySet<number>> {
  const rows = await findLocalRows(db, { documentId, ackedSeq: 0 });
  return new Set(rows.flatMap(({ payload }) => [...Y.parseUpdateMeta(payload).from.keys()]));
}

/** What this machine removed from the text since the last acknowledged row, oldest first. */
export async function removedSince(
  db: Kysely<DaemonTables>,
  documentId: number,
  ackedSeq: number,
): Promise<RemovedText[]> {
  const rows = await db
    .selectFrom("updates")
    .select("removed")
    .where("document_id", "=", documentId)
    .where("seq", ">", ackedSeq)
    .where("removed", "is not", null)
    .orderBy("seq")
    .execute();
  return rows.flatMap(({ removed }) => (removed === null ? [] : parseRemoved(removed)));
}
