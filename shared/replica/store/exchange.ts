import type { Kysely } from "kysely";
import * as Y from "yjs";
import { invalidAt } from "../../errors.ts";
import { mayOnlyRead } from "../../forbidden.ts";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import type { Pause } from "../../turns.ts";
import type { DocumentRefused, DocumentRequest, DocumentServed } from "../../wire/exchange.ts";
import type { Position } from "../../wire/position.ts";
import type { Admission } from "../admission/admit.ts";
import { type DocumentAddress, layerOf } from "../document/address.ts";
import {
  EMPTY_POSITION,
  epochOfRow,
  loadDocument,
  mergeUpdates,
  rowsBetween,
} from "../log/log-rows.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { OpenDocument } from "./open-document.ts";
import type { WriteContext } from "./write-context.ts";

/** State vector of a document that holds nothing. */
export const EMPTY_STATE_VECTOR = Y.encodeStateVector(new Map());

/** A document written by 100,000 client ids has a shorter one. */
const STATE_VECTOR_BYTES_MAX = 1024 * 1024;

/** What the client's token allows in an exchange, besides reading. */
export interface ExchangeRights {
  readonly canWrite: boolean;
}

/** What became of a client's update, which was applied at the position `before`. */
export interface AppliedUpdate {
  readonly before: Position;
  readonly admission: Admission | undefined;
}

/** Applies a client's update if it is admitted. The turn may end between the two. */
export async function applyRequest(
  open: OpenDocument,
  { update }: DocumentRequest,
  pause: Pause,
): Promise<AppliedUpdate> {
  const before = open.head;
  return { before, admission: update && (await open.applyInTurns(update, pause)) };
}

/**
 * The server's half of one document's exchange: applies the client's update if it is admitted, and
 * returns what the client lacks. Throws a 400 for a malformed state vector, and `forbidden` for a
 * write without the right; the caller must then abandon the transaction. `applied` is what a draft
 * did that the context has adopted.
 */
export async function serveExchange<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  address: DocumentAddress,
  {
    request,
    rights,
    applied,
  }: {
    readonly request: DocumentRequest;
    readonly rights: ExchangeRights;
    readonly applied?: AppliedUpdate | undefined;
  },
): Promise<DocumentServed | DocumentRefused> {
  if (request.stateVector && !isStateVector(request.stateVector)) {
    const path = `/crdt/documents/${layerOf(address.name)}/state_vector`;
    throw invalidAt(path, "must be a Yjs state vector (v1)");
  }
  const open = await openFor(context, address, {
    documentRequest: request,
    exchangeRights: rights,
  });
  if (!open) return serveNothing(request);
  const { pause } = context;
  const { before, admission } = applied ?? (await applyRequest(open, request, pause));
  const searched = searchedFor(admission);
  if (admission?.kind === "refused")
    return { refused: { message: admission.message }, ...searched };
  if (open.dirty && !rights.canWrite) throw mayOnlyRead();
  await pause();
  const db: Kysely<ReplicaTables> = narrowTables(context.db);
  const pulled = await pullFrom(db, open, { documentRequest: request, before });
  await context.flush(open);
  if (pulled !== "reset" && admission?.kind !== "missing")
    return { ...open.head, ...pulled, ...searched };
  return {
    ...open.head,
    ...(pulled === "reset" ? { reset: true } : pulled),
    ...(admission?.kind === "missing" && { missing: true }),
    stateVector: Y.encodeStateVector(open.document.ydoc),
  };
}

function searchedFor(admission: Admission | undefined): { readonly searched?: number } {
  const searched = admission && "steps" in admission ? (admission.steps ?? 0) : 0;
  return searched > 0 ? { searched } : {};
}

/** The document; created for an update if it does not exist. */
async function openFor<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  address: DocumentAddress,
  {
    documentRequest: { update },
    exchangeRights: { canWrite },
  }: { readonly documentRequest: DocumentRequest; readonly exchangeRights: ExchangeRights },
): Promise<OpenDocument | undefined> {
  const found = await context.find(address);
  if (found || !update || isEmptyUpdate(update)) return found;
  if (!canWrite) throw mayOnlyRead();
  return await context.open(address);
}

function isStateVector(bytes: Uint8Array): boolean {
  if (bytes.length > STATE_VECTOR_BYTES_MAX) return false;
  try {
    Y.decodeStateVector(bytes);
    return true;
  } catch {
    return false;
  }
}

function serveNothing(request: DocumentRequest): DocumentServed {
  const lost = (request.position?.seq ?? 0) > 0;
  return lost
    ? { ...EMPTY_POSITION, reset: true, stateVector: EMPTY_STATE_VECTOR }
    : EMPTY_POSITION;
}

/**
 * What the client lacks of the log up to `before`, where its own rows begin. To be called before
 * those are flushed: then the document on the disk is the one at `before`.
 */
async function pullFrom(
  db: Kysely<ReplicaTables>,
  open: OpenDocument,
  {
    documentRequest: { position, stateVector },
    before,
  }: { readonly documentRequest: DocumentRequest; readonly before: Position },
): Promise<{ update?: Uint8Array } | "reset"> {
  if (stateVector) {
    const update = Y.encodeStateAsUpdate(open.document.ydoc, stateVector);
    return isEmptyUpdate(update) ? {} : { update };
  }
  const { epoch, seq } = position ?? EMPTY_POSITION;
  if (seq === before.seq && epoch === before.epoch) return {};
  const reached =
    seq <= before.seq && (seq === 0 || (await epochOfRow(db, open.id, seq)) === epoch);
  if (!reached) return "reset";
  const update = await rowsBetween(db, open.id, { afterSeq: seq, throughSeq: before.seq });
  if (update === null) return {};
  return { update: update ?? (await wholeBefore(db, open)) };
}

/** The whole document without what the client has just brought. */
async function wholeBefore(db: Kysely<ReplicaTables>, open: OpenDocument): Promise<Uint8Array> {
  if (!open.dirty) return Y.encodeStateAsUpdate(open.document.ydoc);
  return mergeUpdates((await loadDocument(db, open.id)).updates);
}

/** Whether an update (v1) is empty: no structures and no deletions. */
export function isEmptyUpdate(update: Uint8Array): boolean {
  return update.length === 2 && update[0] === 0 && update[1] === 0;
}
