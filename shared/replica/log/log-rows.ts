import { crc32 } from "node:zlib";
import { type Kysely, sql } from "kysely";
import * as Y from "yjs";
import { assert } from "../../errors.ts";
import type { AccountId } from "../../ids.ts";
import { compilable, compiled } from "../../sqlite/compiled.ts";
import { textsIn } from "../../sqlite/dialects.ts";
import type { Position } from "../../wire/position.ts";
import { compress, decompress } from "./compressed.ts";
import { CorruptDocumentError } from "./corrupt-document-error.ts";
import { joinUpdates } from "./join-updates.ts";
import type { ReplicaTables } from "./tables.ts";

type Db = Kysely<ReplicaTables>;

/** The position of a document without rows. */
export const EMPTY_POSITION: Position = { epoch: "", seq: 0 };

/** A document as its tables have it. Every part was verified by its checksum. */
export interface StoredDocument {
  /** A snapshot, if there is one, and the rows after it, in order. */
  readonly updates: readonly Uint8Array[];
  readonly snapshotSeq: number;
  readonly head: Position;
  /** Bytes of all `updates`. */
  readonly bytes: number;
}

export const EMPTY_DOCUMENT: StoredDocument = {
  updates: [],
  snapshotSeq: 0,
  head: EMPTY_POSITION,
  bytes: 0,
};

/** Everything that makes up a document. Throws `CorruptDocumentError`. */
export async function loadDocument(db: Db, documentId: number): Promise<StoredDocument> {
  const snapshot = await findSnapshot(db, documentId);
  const snapshotSeq = snapshot?.seq ?? 0;
  const rows = await db
    .selectFrom("updates")
    .select(["seq", "payload", "checksum"])
    .where("document_id", "=", documentId)
    .where("seq", ">", snapshotSeq)
    .orderBy("seq")
    .execute();
  const parts = snapshot ? [snapshot, ...rows] : rows;
  const seq = await headOf(db, documentId);
  checkParts(documentId, parts, { snapshotSeq, headSeq: seq });
  const epoch = await epochOfRow(db, documentId, seq);
  const updates = rows.map(({ payload }) => payload);
  if (snapshot) updates.unshift(snapshotUpdate(snapshot));
  return {
    updates,
    snapshotSeq,
    head: epoch === undefined ? EMPTY_POSITION : { epoch, seq },
    bytes: updates.reduce((total, update) => total + update.length, 0),
  };
}

/** A document's snapshot as it is stored. */
export function findSnapshot(db: Db, documentId: number) {
  return db
    .selectFrom("snapshots")
    .select(["seq", "payload", "checksum", "bytes"])
    .where("document_id", "=", documentId)
    .executeTakeFirst();
}

/** The Yjs update (v1) of a stored snapshot, which is compressed unless 0.1.0 wrote it. */
export function snapshotUpdate(snapshot: {
  readonly payload: Uint8Array;
  readonly bytes: number | null;
}): Uint8Array {
  const { payload, bytes } = snapshot;
  return bytes === null ? payload : decompress(payload, bytes);
}

async function headOf(db: Db, documentId: number): Promise<number> {
  const { seq } = await db
    .selectFrom("documents")
    .select("seq")
    .where("id", "=", documentId)
    .executeTakeFirstOrThrow();
  return seq;
}

/** A row of the log, or a snapshot, with the stored CRC-32 of its payload. */
interface StoredPart {
  readonly seq: number;
  readonly payload: Uint8Array;
  readonly checksum: number;
}

/** Throws `CorruptDocumentError` at the first damaged part. */
export function checkPayloads(documentId: number, parts: readonly StoredPart[]): void {
  const damaged = parts.find(({ payload, checksum }) => crc32(payload) !== checksum);
  if (damaged) throw damagedAt(documentId, damaged.seq);
}

function damagedAt(documentId: number, seq: number): CorruptDocumentError {
  return new CorruptDocumentError(`document ${documentId} is damaged at row ${seq}`);
}

/** Checks that the rows after the snapshot have no gap and no damage. */
function checkParts(
  documentId: number,
  parts: readonly StoredPart[],
  { snapshotSeq, headSeq }: { readonly snapshotSeq: number; readonly headSeq: number },
): void {
  const damaged = (seq: number) => damagedAt(documentId, seq);
  checkPayloads(documentId, parts);
  const seqs = parts.map((part) => part.seq).filter((seq) => seq > snapshotSeq);
  const gap = seqs.findIndex((seq, index) => seq !== snapshotSeq + index + 1);
  if (gap !== -1) throw damaged(snapshotSeq + gap + 1);
  if (snapshotSeq + seqs.length !== headSeq) throw damaged(snapshotSeq + seqs.length + 1);
}

/** The epoch in which row `seq` was written; undefined for a row that does not exist yet. */
export async function epochOfRow(
  db: Db,
  documentId: number,
  seq: number,
): Promise<string | undefined> {
  const [row] = await findEpoch(db, { documentId, seq });
  return row?.epoch;
}

const findEpoch = compiled(
  (db: Db, { documentId, seq }: { readonly documentId: number; readonly seq: number }) =>
    db
      .selectFrom("epochs")
      .select("epoch")
      .where("document_id", "=", documentId)
      .where("first_seq", "<=", seq)
      .orderBy("first_seq", "desc")
      .limit(1),
);

/** The newest positions of an owner's documents of these names, as far as there are any. */
export async function headsOf(
  db: Db,
  owner: AccountId,
  names: readonly string[],
): Promise<ReadonlyMap<string, Position>> {
  const rows = await headRowsOf(db, owner, names);
  return new Map([...rows].map(([name, { position }]) => [name, position]));
}

/** The same with the documents' ids. */
export async function headRowsOf(
  db: Db,
  owner: AccountId,
  names: readonly string[],
): Promise<ReadonlyMap<string, { readonly id: number; readonly position: Position }>> {
  const rows = await findHeads(db, { owner, names: JSON.stringify(names) });
  return new Map(
    rows.map(({ id, name, epoch, seq }) => [name, { id, position: { epoch: epoch ?? "", seq } }]),
  );
}

/** The newest row's epoch is the one that was begun last. */
const findHeads = compiled(
  (db: Db, { owner, names }: { readonly owner: AccountId; readonly names: string }) =>
    compilable(
      db,
      sql<{ id: number; name: string; seq: number; epoch: string | null }>`
        select id, name, seq, (select epoch from epochs where document_id = documents.id
          order by first_seq desc limit 1) as epoch
        from documents
        where owner = ${owner} and name in ${textsIn(db, names)}`,
    ),
);

/**
 * The rows after `afterSeq` up to and including `throughSeq`, as one update; null if there are
 * none, undefined if some were compacted. Throws `CorruptDocumentError`.
 */
export async function rowsBetween(
  db: Db,
  documentId: number,
  { afterSeq, throughSeq }: { readonly afterSeq: number; readonly throughSeq: number },
): Promise<Uint8Array | null | undefined> {
  if (throughSeq <= afterSeq) return null;
  const rows = await db
    .selectFrom("updates")
    .select(["seq", "payload", "checksum"])
    .where("document_id", "=", documentId)
    .where("seq", ">", afterSeq)
    .where("seq", "<=", throughSeq)
    .orderBy("seq")
    .execute();
  checkPayloads(documentId, rows);
  if (rows.length !== throughSeq - afterSeq) return undefined;
  return mergeUpdates(rows.map((row) => row.payload));
}

/**
 * The rows that follow upon row `afterSeq` up to the newest one, `headSeq`; undefined if they are
 * not all there and sound.
 */
export async function rowsUpTo(
  db: Db,
  documentId: number,
  { afterSeq, headSeq }: { readonly afterSeq: number; readonly headSeq: number },
): Promise<{ readonly updates: readonly Uint8Array[]; readonly epoch: string } | undefined> {
  const rows = await findRowsAfter(db, { documentId, afterSeq });
  const areSound = rows.every(({ seq, payload, checksum }, at) => {
    return seq === afterSeq + at + 1 && crc32(payload) === checksum;
  });
  const last = rows.at(-1);
  if (!areSound || last?.seq !== headSeq) return undefined;
  return { updates: rows.map(({ payload }) => payload), epoch: last.epoch };
}

const findRowsAfter = compiled(
  (db: Db, given: { readonly documentId: number; readonly afterSeq: number }) =>
    db
      .selectFrom("updates")
      .select(["seq", "epoch", "payload", "checksum"])
      .where("document_id", "=", given.documentId)
      .where("seq", ">", given.afterSeq)
      .orderBy("seq"),
);

/**
 * Merges updates, at least one, into one.
 *
 * ```
 * const { updates } = await loadDocument(db, documentId);
 * const update = mergeUpdates(updates);
 * ```
 */
export function mergeUpdates(updates: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = updates;
  if (first !== undefined && others.length === 0) return first;
  return joinUpdates(updates) ?? Y.mergeUpdates([...updates]);
}

/** A row to append, with its time in milliseconds since the Unix epoch. */
export interface NewRow {
  readonly documentId: number;
  /** The one after the newest row's. */
  readonly seq: number;
  readonly origin: "local" | "remote";
  /** Yjs update, v1. */
  readonly update: Uint8Array;
  /** What it removed from the text, as `storedRemoved` returns it. */
  readonly removed: string | null;
  readonly epoch: string;
  /** Whether the row before it has another epoch. */
  readonly opensEpoch: boolean;
  readonly now: number;
}

/** Appends a row to a document's log, in a write transaction. */
export function appendRow(db: Db, row: NewRow): void {
  const { documentId, seq, origin, update, removed, epoch, now } = row;
  const [document] = nextSeq.now(db, { documentId, now });
  assert(document, "a document with a log has a row");
  assert(document.seq === seq, "this process alone writes the log");
  addUpdate.now(db, {
    documentId,
    seq,
    epoch,
    origin,
    payload: update,
    checksum: crc32(update),
    removed,
    committedAt: now,
  });
  if (row.opensEpoch) addEpoch.now(db, { documentId, firstSeq: seq, epoch });
}

const nextSeq = compiled(
  (db: Db, { documentId, now }: { readonly documentId: number; readonly now: number }) =>
    db
      .updateTable("documents")
      .set((update) => ({ seq: update("seq", "+", 1), updated_at: now }))
      .where("id", "=", documentId)
      .returning("seq"),
);

const addEpoch = compiled(
  (
    db: Db,
    given: { readonly documentId: number; readonly firstSeq: number; readonly epoch: string },
  ) =>
    db
      .insertInto("epochs")
      .values({ document_id: given.documentId, first_seq: given.firstSeq, epoch: given.epoch }),
);

const addUpdate = compiled(
  (
    db: Db,
    given: {
      readonly documentId: number;
      readonly seq: number;
      readonly epoch: string;
      readonly origin: "local" | "remote";
      readonly payload: Uint8Array;
      readonly checksum: number;
      readonly removed: string | null;
      readonly committedAt: number;
    },
  ) =>
    db.insertInto("updates").values({
      document_id: given.documentId,
      seq: given.seq,
      epoch: given.epoch,
      origin: given.origin,
      payload: given.payload,
      checksum: given.checksum,
      removed: given.removed,
      committed_at: given.committedAt,
    }),
);

/** The last row that is not among the newest `kept` ones up to `headSeq`; 0 if there is none. */
export async function lastRowBeyond(
  db: Db,
  documentId: number,
  {
    headSeq,
    kept,
  }: { readonly headSeq: number; readonly kept: { readonly rows: number; readonly bytes: number } },
): Promise<number> {
  const oldest = Math.max(headSeq - kept.rows, 0);
  const rows = await db
    .selectFrom("updates")
    .select(["seq", (select) => select.fn<number>("length", ["payload"]).as("bytes")])
    .where("document_id", "=", documentId)
    .where("seq", ">", oldest)
    .orderBy("seq", "desc")
    .execute();
  let bytes = 0;
  const beyond = rows.find((row) => {
    bytes += row.bytes;
    return bytes > kept.bytes;
  });
  return beyond?.seq ?? oldest;
}

/** Stores the whole document as of row `seq`, and deletes the rows up to `dropThrough`. */
export async function writeSnapshot(
  db: Db,
  documentId: number,
  {
    snapshot,
    dropThrough,
  }: {
    readonly snapshot: { readonly seq: number; readonly payload: Uint8Array; readonly now: number };
    readonly dropThrough: number;
  },
): Promise<void> {
  const payload = compress(snapshot.payload, "quick");
  const values = {
    seq: snapshot.seq,
    payload,
    checksum: crc32(payload),
    bytes: snapshot.payload.length,
    created_at: snapshot.now,
  };
  await db
    .insertInto("snapshots")
    .values({ document_id: documentId, ...values })
    .onConflict((conflict) => conflict.column("document_id").doUpdateSet(values))
    .execute();
  await db
    .deleteFrom("updates")
    .where("document_id", "=", documentId)
    .where("seq", "<=", dropThrough)
    .execute();
}
