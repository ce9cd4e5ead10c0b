import type { Kysely } from "kysely";
import * as Y from "yjs";
import { layerOf, projectOf } from "../../shared/replica/document/address.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { addRevision } from "../../shared/replica/history/unfiled.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import { EMPTY_STATE_VECTOR } from "../../shared/replica/store/exchange.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type {
  DocumentServed,
  ExchangeAnswer,
  ExchangeRequest,
} from "../../shared/wire/exchange.ts";
import { hashOf } from "../disk/read-file.ts";
import { applyHeld } from "../held/apply-held.ts";
import {
  dropHeld,
  findHeld,
  type HeldItem,
  listHeld,
  placeOf,
  putHeld,
} from "../home/held-store.ts";
import { openBound } from "../home/open-bound.ts";
import { readPosition, writePosition } from "../home/positions.ts";
import type { DaemonTables } from "../home/tables.ts";
import type { RoundOptions } from "../service/round-options.ts";
import type { Outcome } from "../service/service.ts";
import { applyRemote } from "./incoming.ts";
import { writeUnderAnotherId } from "./own-writes.ts";
import { type UnsentWrite, unsentWrites } from "./unsent-writes.ts";

type Context = WriteContext<DaemonTables>;

/** Nothing is written under this client id: the service's document is only compared. */
const READER_CLIENT = 0;

/** A document whose update the service refused, and in which words. */
export interface RefusedDocument {
  /** A project's id, `user/<user id>` or `global`. */
  readonly name: string;
  readonly message: string;
}

/**
 * Repairs a document whose update the service refused. It is reset to what the service holds, and
 * this machine's unsent writes are held. They are then tried again in halves, until the refused one
 * is alone. That one stays held, with the service's reason; all others succeed. False: the
 * service's document is not available, or there is nothing to take back.
 */
export async function recoverRefused(
  options: RoundOptions,
  refusal: RefusedDocument,
): Promise<Outcome<boolean>> {
  const { service } = options;
  const { name } = refusal;
  const request = { documents: askingWhole([name]) };
  const outcome = await service.exchange(projectOf(name) ?? null, request);
  if (outcome.kind !== "answered") return outcome;
  const answer = outcome.value;
  const value = answer !== "plain" && (await recoverFrom(options, refusal, answer));
  return { kind: "answered", value };
}

/**
 * A request for everything that the service holds of these documents, which are of different
 * layers.
 */
export function askingWhole(names: readonly string[]): ExchangeRequest["documents"] {
  const request = { stateVector: EMPTY_STATE_VECTOR };
  return Object.fromEntries(names.map((name) => [layerOf(name), request]));
}

/** The same with the answer to a call that asked for the whole document. */
export async function recoverFrom(
  options: RoundOptions,
  refusal: RefusedDocument,
  answer: ExchangeAnswer,
): Promise<boolean> {
  const served = answer.documents[layerOf(refusal.name)];
  if (!served || !("epoch" in served)) return false;
  return await options.store.write((context) =>
    withdraw(context, options, { refusedDocument: refusal, documentServed: served }),
  );
}

async function withdraw(
  context: Context,
  { account, service }: RoundOptions,
  {
    refusedDocument: { name, message },
    documentServed: { epoch, seq, update },
  }: { readonly refusedDocument: RefusedDocument; readonly documentServed: DocumentServed },
): Promise<boolean> {
  const { db, now } = context;
  const open = await openBound(context, { account }, name);
  if (!open) return false;
  const { ackedSeq } = await readPosition(db, service.name, open.id);
  const problem = update && (await applyRemote(context, open, { ackedSeq, update }));
  if (problem === "own") {
    await writeUnderAnotherId(context, service.name, open);
    return true;
  }
  if (problem !== undefined) return false;
  const theirs = new ReplicaDocument(update ? [update] : [], READER_CLIENT);
  const writes = unsentWrites(open.document, theirs, now);
  if (writes.length === 0) return false;
  await holdUnsent(context, open, { writes, message });
  const rebuilt = await context.rebuild(open, Y.encodeStateAsUpdate(theirs.ydoc));
  const remote = { epoch, seq };
  const { head } = rebuilt;
  await writePosition(db, service.name, {
    documentId: open.id,
    position: {
      remote,
      ackedSeq: head.seq,
      refused: undefined,
    },
  });
  return true;
}

/** Holds all of them. A single one is the refused one; several are sent again by halves. */
async function holdUnsent(
  context: Context,
  open: OpenDocument,
  { writes, message }: { readonly writes: readonly UnsentWrite[]; readonly message: string },
): Promise<void> {
  const { db } = context;
  const batches = (await listHeld(db, placeOf(open))).map(({ retryBatch }) => retryBatch ?? 0);
  const next = Math.max(0, ...batches) + 1;
  for (const [at, write] of writes.entries()) {
    const retryBatch = at < writes.length / 2 ? next : next + 1;
    await holdOne(context, open, {
      unsentWrite: write,
      message,
      retryBatch: writes.length === 1 ? undefined : retryBatch,
    });
  }
}

async function holdOne(
  { db, now }: Context,
  open: OpenDocument,
  {
    unsentWrite: { losers, ...write },
    message,
    retryBatch,
  }: {
    readonly unsentWrite: UnsentWrite;
    readonly message: string;
    readonly retryBatch: number | undefined;
  },
): Promise<void> {
  const place = { kind: write.kind, ...placeOf(open), key: write.key };
  const gone = losers.map(({ value, updated_at: at }) => ({ value: String(value), at }));
  const held = await findHeld(db, place);
  const refused = { cause: "refused", reason: { code: "service-refused", said: message } } as const;
  if (held) {
    // It was written later, so it replaces everything that this one was to replace.
    await putHeld(db, { ...held, seen: [...held.seen, ...write.seen] });
    if (write.value !== undefined) gone.unshift({ value: write.value, at: write.writtenAt });
  } else {
    await putHeld(db, { ...place, ...write, ...refused, retryBatch });
    // The next write takes its place, and then the history has it like any other. A text is there.
    const isLast = retryBatch === undefined && write.kind === "memory";
    if (isLast && write.value !== undefined)
      gone.unshift({ value: write.value, at: write.writtenAt });
  }
  if (write.kind === "metadata") {
    // It has no history.
    if (held && write.value !== undefined) {
      const apart = hashOf(write.value);
      await putHeld(db, { ...place, ...write, ...refused, apart, shown: false });
    }
    return;
  }
  for (const { value, at } of gone) {
    const revision = { kind: write.kind, key: write.key, value, writtenAt: at, replacedAt: now };
    const replica: Kysely<ReplicaTables> = narrowTables(db);
    addRevision(replica, open.id, { ...revision, machine: open.writer.machine });
  }
}

/** Puts back the next writes of a document to try, so that the next call sends them. */
export async function restoreRetryBatch(context: Context, open: OpenDocument): Promise<void> {
  const next = nextRetryBatch(await listHeld(context.db, placeOf(open)));
  for (const item of next) {
    await dropHeld(context.db, item);
    applyHeld(open, item);
  }
  if (next.length > 0) await context.flush(open);
}

/** Whether a document has more writes to try. */
export async function hasRetryBatch(context: Context, open: OpenDocument): Promise<boolean> {
  return nextRetryBatch(await listHeld(context.db, placeOf(open))).length > 0;
}

function nextRetryBatch(held: readonly HeldItem[]): readonly HeldItem[] {
  const batches = held.flatMap(({ retryBatch }) => retryBatch ?? []);
  const first = Math.min(...batches);
  return held.filter(({ retryBatch }) => retryBatch === first);
}
