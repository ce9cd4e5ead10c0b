import type { Kysely } from "kysely";
import * as Y from "yjs";
import { AppError } from "../errors.ts";
import type { DocumentRefused, DocumentRequest, DocumentServed } from "../wire/exchange.ts";
import type { Position } from "../wire/position.ts";
import type { DocumentAddress } from "./address.ts";
import { EMPTY_POSITION, epochOfRow, rowsBetween } from "./log-rows.ts";
import type { OpenDocument } from "./open-document.ts";
import type { WriteContext } from "./store.ts";
import type { ReplicaTables } from "./tables.ts";

/** State vector of a document that holds nothing. */
const EMPTY_STATE_VECTOR = Y.encodeStateVector(new Map());

export interface ExchangeRights {
  readonly canWrite: boolean;
}

/**
 * The serving half of one document's exchange: takes what the client brings if it is admitted, and
 * gives what the client lacks. Throws `forbidden` where something would be written without the
 * right to; the write transaction must then be left.
 */
export async function serveExchange<Tables extends ReplicaTables>(
  context: WriteContext<Tables>,
  address: DocumentAddress,
  request: DocumentRequest,
  rights: ExchangeRights,
): Promise<DocumentServed | DocumentRefused> {
  const open = request.update ? await context.open(address) : await context.find(address);
  if (!open) return serveNothing(request);
  const before = open.head;
  const admission = request.update ? open.applyUpdate(request.update) : undefined;
  if (admission?.kind === "refused") return { refused: { message: admission.message } };
  if (open.dirty && !rights.canWrite) throw new AppError("forbidden", "this token may only read");
  await context.flush(open);
  const db = context.db as unknown as Kysely<ReplicaTables>;
  const pulled = await pullFrom(db, open, request, before);
  if (pulled !== "reset" && admission?.kind !== "missing") return { ...open.head, ...pulled };
  return {
    ...open.head,
    ...(pulled === "reset" ? { reset: true } : pulled),
    ...(admission?.kind === "missing" && { missing: true }),
    stateVector: Y.encodeStateVector(open.document.ydoc),
  };
}

function serveNothing(request: DocumentRequest): DocumentServed {
  const lost = (request.position?.seq ?? 0) > 0;
  return lost
    ? { ...EMPTY_POSITION, reset: true, stateVector: EMPTY_STATE_VECTOR }
    : EMPTY_POSITION;
}

/** What the client lacks of the log up to `before`, which is where its own rows begin. */
async function pullFrom(
  db: Kysely<ReplicaTables>,
  open: OpenDocument,
  { position, stateVector }: DocumentRequest,
  before: Position,
): Promise<{ update?: Uint8Array } | "reset"> {
  if (stateVector) {
    const update = Y.encodeStateAsUpdate(open.document.ydoc, stateVector);
    return isEmptyUpdate(update) ? {} : { update };
  }
  const { epoch, seq } = position ?? EMPTY_POSITION;
  const reached =
    seq <= open.head.seq && (seq === 0 || (await epochOfRow(db, open.id, seq)) === epoch);
  if (!reached) return "reset";
  const update = await rowsBetween(db, open.id, seq, before.seq);
  if (update === null) return {};
  return { update: update ?? Y.encodeStateAsUpdate(open.document.ydoc) };
}

/** Whether an update (v1) says nothing: no structures and no deletions. */
export function isEmptyUpdate(update: Uint8Array): boolean {
  return update.length === 2 && update[0] === 0 && update[1] === 0;
}
