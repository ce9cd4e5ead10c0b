import type { Kysely } from "kysely";
import * as Y from "yjs";
import { AppError, assert } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { explain } from "../../reasons.ts";
import { inOneTurn, inTurns, type Steps } from "../../steps.ts";
import { NO_PAUSE, type Pause } from "../../turns.ts";
import type { Position } from "../../wire/position.ts";
import { type Admission, admitInSteps } from "../admission/admit.ts";
import { applyPlaced } from "../admission/placed-update.ts";
import { findEnded } from "../conflicts/ended-conflicts.ts";
import { findLargeDeletion } from "../conflicts/large-deletion.ts";
import {
  forgetEnded,
  listTextConflicts,
  recordTextConflict,
} from "../conflicts/text-conflict-record.ts";
import type { DocumentAddress } from "../document/address.ts";
import type { Author } from "../document/author.ts";
import { type DocumentChanges, ReplicaDocument } from "../document/document.ts";
import type { EntryKind } from "../document/entry-arrays.ts";
import { type MemoryRemoval, removeMemory } from "../document/memory-deletion.ts";
import { TRIMMED_PREFIX } from "../document/own-metadata.ts";
import { deletionOf } from "../document/project-deletion.ts";
import { historyTime } from "../history/history-clock.ts";
import { ROW_BYTES_KEPT_MIN } from "../log/large-logs.ts";
import {
  EMPTY_DOCUMENT,
  lastRowBeyond,
  loadDocument,
  mergeUpdates,
  type NewRow,
  rowsUpTo,
  type StoredDocument,
  writeSnapshot,
} from "../log/log-rows.ts";
import { nameMachine } from "../log/machines.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { storedRemoved } from "../text/removed-text.ts";
import type { RowBatch } from "./row-batch.ts";
import { writeBatch } from "./row-writer.ts";
import { deriveRows, storedText } from "./rows.ts";

/** A snapshot is written after this many rows. */
const ROWS_PER_SNAPSHOT = 256;

/**
 * Rows before a snapshot that are kept for clients that lag: at most this many, and at most half of
 * the whole document's size, because a client that lags further gets the whole document.
 */
const ROWS_KEPT = 1024;

/** A document that lacks more rows than this is loaded anew. */
const CAUGHT_UP_MAX = 256;

/** Why a document over its size limit accepts only deletions. */
export const NO_ROOM = explain({ code: "no-room" });

/** The 400 for a write that adds to a full document. */
function documentFull(): AppError {
  return new AppError("invalid_request", NO_ROOM);
}

/** This process as a writer; of an open document, as the writer of that document. */
export interface Writer {
  /** 128 random bits, new at each start; see docs/design/sync.md. */
  readonly epoch: string;
  /**
   * The Yjs client id of everything that this process writes into the document. The process has an
   * id of its own, from which the one for each document is made.
   */
  readonly clientId: number;
  /** The machine's name for documents to record; none if left out. */
  readonly machine?: string | undefined;
  /** The home's id, which tells two machines of one name apart; none for a service. */
  readonly home?: string | undefined;
}

/** What one commit added to one document. */
export interface CommittedRow
  extends Pick<NewRow, "documentId" | "epoch" | "seq" | "origin" | "update"> {
  readonly address: DocumentAddress;
  /** For the whole commit, even if it made several rows. */
  readonly changes: DocumentChanges;
}

interface Planned {
  readonly batch: RowBatch;
  readonly changes: DocumentChanges;
}

interface PendingUpdate {
  readonly origin: "local" | "remote";
  readonly update: Uint8Array;
}

/** What the host of a flush adds to it. */
interface FlushOptions {
  /** See `ContextOptions`. */
  readonly droppable: (documentId: number) => Promise<number>;
  readonly pause: Pause;
  /** Writes what was worked out; SQLite's if left out. */
  readonly writeRows?: RowWriter | undefined;
}

/** Writes the rows of one flush, in a write transaction. */
export type RowWriter = (db: Kysely<ReplicaTables>, batch: RowBatch, pause: Pause) => Promise<void>;

/**
 * A document in memory, and its log on the disk. Inside a write transaction it may be ahead of the
 * disk until `flush`. If the transaction fails, it is discarded and never repaired.
 */
export class OpenDocument {
  #head: Position;
  #snapshotSeq: number;
  #bytes: number;
  #pending: PendingUpdate[] = [];
  /** Whether anything was done to the document since the last flush, even without an effect. */
  #touched = false;
  #flushing = false;
  /** The time of the last commit's rows. */
  #committedAt: number | undefined;
  /** What `prepare` has worked out, for `flush`. */
  #planned: Planned | undefined;
  #isBehind = false;
  /** What was read from the disk, until the document is built from it. */
  #updates: readonly Uint8Array[];
  #document: ReplicaDocument | undefined;
  readonly address: DocumentAddress;
  readonly writer: Writer;

  private constructor(
    readonly id: number,
    { address, writer }: Pick<OpenDocument, "address" | "writer">,
    stored: StoredDocument,
  ) {
    this.address = address;
    this.writer = writer;
    this.#head = stored.head;
    this.#snapshotSeq = stored.snapshotSeq;
    this.#bytes = stored.bytes;
    this.#updates = stored.updates;
  }

  static async load(
    db: Kysely<ReplicaTables>,
    id: number,
    { address, writer }: { readonly address: DocumentAddress; readonly writer: Writer },
  ): Promise<OpenDocument> {
    return new OpenDocument(id, { address, writer }, await loadDocument(db, id));
  }

  /** A document that is not on the disk yet. */
  static empty(id: number, at: Pick<OpenDocument, "address" | "writer">): OpenDocument {
    return new OpenDocument(id, at, EMPTY_DOCUMENT);
  }

  /**
   * Built on first use. It takes ten times the memory of its bytes, and many callers, such as every
   * project's first call, only need its position.
   */
  get document(): ReplicaDocument {
    this.#document ??= this.#make();
    return this.#document;
  }

  #make(): ReplicaDocument {
    const document = new ReplicaDocument(this.#updates, this.writer.clientId);
    document.ydoc.on("beforeTransaction", () => {
      this.#touched = true;
    });
    document.ydoc.on("update", (update: Uint8Array, origin: unknown) => {
      this.#pending.push({ origin: origin === "remote" ? "remote" : "local", update });
    });
    this.#updates = [];
    return document;
  }

  /** This machine, as the document records it. */
  get author(): Author {
    const { machine, home } = this.writer;
    return { machine, home };
  }

  /** Position of the newest row. */
  get head(): Position {
    return this.#head;
  }

  /** The approximate size of the document in memory and on the disk. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether there are changes that `flush` has not written yet. */
  get dirty(): boolean {
    return this.#pending.length > 0 || this.#planned !== undefined;
  }

  /** Whether the document in memory certainly equals the one on the disk. */
  get isClean(): boolean {
    return !this.#touched && !this.dirty;
  }

  /** Whether another process may have added to its log; see `catchUp`. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Notes that another process may have added to its log. What was there is unchanged. */
  fallBehind(): void {
    this.#isBehind = true;
  }

  /**
   * Takes what others have added up to row `headSeq`, the newest one. False: it has to be loaded
   * anew.
   */
  async catchUp(db: Kysely<ReplicaTables>, headSeq: number): Promise<boolean> {
    const afterSeq = this.#head.seq;
    if (!this.isClean || headSeq - afterSeq > CAUGHT_UP_MAX) return false;
    if (headSeq !== afterSeq) {
      const rows = await rowsUpTo(db, this.id, { afterSeq, headSeq });
      if (!rows) return false;
      this.#take(rows.updates);
      this.#head = { epoch: rows.epoch, seq: headSeq };
    }
    this.#isBehind = false;
    return true;
  }

  /** Updates that are in the log. */
  #take(updates: readonly Uint8Array[]): void {
    for (const update of updates) this.#bytes += update.length;
    if (!this.#document) {
      this.#updates = [...this.#updates, ...updates];
      return;
    }
    for (const update of updates) Y.applyUpdate(this.#document.ydoc, update, "remote");
    assert(!this.#document.hasPending(), "a row of the log needs nothing that comes later");
    this.#document.drainChanges();
    this.#pending = [];
    this.#touched = false;
  }

  /**
   * Runs an edit. Throws a 400 if it adds to a document over its size limit; deleting is allowed.
   * The caller must then abandon the transaction.
   */
  refuseIfFull<Result>(edit: () => Result): Result {
    const assertRoom = this.watchRoom();
    const result = edit();
    assertRoom();
    return result;
  }

  /**
   * For an edit in several steps. Returns a function to call after them: if the document is over
   * its limit now, that throws the 400 when something was added meanwhile.
   */
  watchRoom(): () => void {
    if (!this.isFull) return () => {};
    const { store, clientID } = this.document.ydoc;
    const clock = Y.getState(store, clientID);
    return () => {
      if (Y.getState(store, clientID) > clock) throw documentFull();
    };
  }

  /**
   * See `removeMemory`. A full document accepts a deletion, and has some room to say so. Where that
   * is used up, too, nothing tells of the deletion.
   */
  deleteMemory(removal: MemoryRemoval): boolean {
    const { key, seen } = removal;
    const hasRoom = !this.#isOver(LIMITS.documentBytes + LIMITS.deletionRecordsBytes);
    if (hasRoom) return removeMemory(this.document, removal);
    return this.document.deleteEntry("memories", key, seen);
  }

  /** Whether it is over its size limit, so that it accepts only deletions. */
  get isFull(): boolean {
    return this.#isOver(LIMITS.documentBytes);
  }

  #isOver(bytesMax: number): boolean {
    if (this.#bytes <= bytesMax) return false;
    // What was written over takes no room any more, and is not to be measured again each time.
    this.#bytes = Y.encodeStateAsUpdate(this.document.ydoc).length;
    return this.#bytes > bytesMax;
  }

  /**
   * Applies an update from another replica if it is admitted; otherwise nothing changes. Over
   * `bytesMax`, only deletions are accepted, and what tells of them.
   */
  applyUpdate(update: Uint8Array, bytesMax: number = LIMITS.documentBytes): Admission {
    return this.#apply(update, inOneTurn(this.#admit(update, bytesMax)));
  }

  /** The same, where the turn may end during the admission of a long update, and after it. */
  async applyInTurns(update: Uint8Array, pause: Pause): Promise<Admission> {
    const admission = await inTurns(this.#admit(update, LIMITS.documentBytes), pause);
    await pause();
    return this.#apply(update, admission);
  }

  *#admit(update: Uint8Array, bytesMax: number): Steps<Admission> {
    const admission = yield* admitInSteps(this.document, update, this.writer.clientId);
    if (admission.kind !== "admitted" || admission.adds === "nothing") return admission;
    const besides = admission.adds === "records" ? LIMITS.deletionRecordsBytes : 0;
    return this.#isOver(bytesMax + besides) ? { kind: "refused", message: NO_ROOM } : admission;
  }

  #apply(update: Uint8Array, admission: Admission): Admission {
    if (admission.kind !== "admitted") return admission;
    const { ydoc } = this.document;
    const { places } = admission;
    if (places) applyPlaced(ydoc, update, { places, origin: "remote" });
    else Y.applyUpdate(ydoc, update, "remote");
    assert(!this.document.hasPending(), "an admitted update needs nothing more");
    return admission;
  }

  /** Writes the changes since the last call: one row for each run of changes of the same origin. */
  async flush(
    db: Kysely<ReplicaTables>,
    now: number,
    { droppable, pause, writeRows = writeBatch }: FlushOptions,
  ): Promise<CommittedRow[]> {
    assert(!this.#flushing, "a flush that failed ends its write");
    this.#flushing = true;
    assert(!this.#planned || this.#pending.length === 0, "what is prepared is all there is");
    const { batch, changes } = this.#planned ?? (await this.#plan(db, now, pause));
    await writeRows(db, batch, pause);
    if (this.#head.seq - this.#snapshotSeq >= ROWS_PER_SNAPSHOT) {
      await this.#snapshot(db, now, await droppable(this.id));
    }
    this.#planned = undefined;
    this.#touched = false;
    this.#flushing = false;
    const { address } = this;
    return batch.log.map((row) => ({ ...row, address, changes }));
  }

  /**
   * Works out what `flush` has to write, so that it only writes. Needs no transaction, but nobody
   * may write to the document's rows in between.
   */
  async prepare(db: Kysely<ReplicaTables>, now: number, pause: Pause): Promise<void> {
    this.#planned = await this.#plan(db, now, pause);
  }

  async #plan(db: Kysely<ReplicaTables>, now: number, pause: Pause): Promise<Planned> {
    const isLocal = this.#pending.some(({ origin }) => origin === "local");
    if (isLocal) {
      // Edits of others were told where they were made.
      if (this.#pending.every(({ origin }) => origin === "local"))
        await this.#tellEdit(db, now, pause);
      this.#nameWriter(now);
    }
    const pending = this.#pending;
    this.#pending = [];
    const changes = this.document.drainChanges();
    const { id: documentId, document } = this;
    const machine = isLocal ? this.writer.machine : undefined;
    const target = { documentId, name: this.address.name, now, machine, pause };
    const derived = await deriveRows(db, target, { document, changes });
    await pause();
    // The rows of one commit have one time, and those of the commit before have another.
    this.#committedAt = now === this.#committedAt ? now + 1 : now;
    const row = { changes, now: this.#committedAt };
    const log = runsOfOneOrigin(pending).map((run) => this.#logRow(run, row));
    return { batch: { documentId, now, log, derived }, changes };
  }

  /** Updates the rows that were derived from `former` to this document. */
  async rewriteRows(
    db: Kysely<ReplicaTables>,
    now: number,
    former: ReplicaDocument,
  ): Promise<void> {
    const { document } = this;
    const keysOf = (kind: EntryKind) => new Set([...former[kind].keys(), ...document[kind].keys()]);
    const touched = {
      memoryKeys: keysOf("memories"),
      metadataKeys: keysOf("metadata"),
      text: true,
    };
    const { id: documentId, address } = this;
    const target = { documentId, name: address.name, now, machine: undefined, pause: NO_PAUSE };
    const changes = {
      ...touched,
      by: { local: touched, remote: touched },
      replaced: [],
      textClients: new Set<number>(),
      removedText: [],
    };
    const derived = await deriveRows(db, target, { document, changes });
    await writeBatch(db, { documentId, now, log: [], derived }, NO_PAUSE);
  }

  /** Records who deleted text, a deletion of most of it, and what goes on of ended conflicts. */
  async #tellEdit(db: Kysely<ReplicaTables>, now: number, pause: Pause): Promise<void> {
    const { document, writer } = this;
    const { text, textClients } = document.changes;
    if (!text || deletionOf(document)) return;
    const before = await storedText(db, this.id);
    const after = document.content();
    if (before === undefined || before === after) return;
    if (textClients.size === 0 && writer.machine !== undefined) {
      document.setEntry("metadata", TRIMMED_PREFIX + writer.machine, {
        value: now,
        now,
      });
    }
    const deletion = findLargeDeletion(before, after, { machine: writer.machine, at: now });
    const notice = await inTurns(deletion, pause);
    const edit = { before, after, by: this.author, at: now, isTold: notice !== undefined };
    const ended = findEnded(listTextConflicts(document), edit);
    for (const { record } of ended) forgetEnded(document, record);
    const told = [...(notice ? [notice] : []), ...ended.map(({ next }) => next)];
    if (told.length === 0) return;
    const time = await historyTime(db, now);
    for (const conflict of told) recordTextConflict(document, conflict, { now, time });
  }

  /** Records this machine's name in a document that it has written to. */
  #nameWriter(now: number): void {
    const { clientId, machine, home } = this.writer;
    if (machine === undefined || Y.getState(this.document.ydoc.store, clientId) === 0) return;
    nameMachine(this.document, clientId, { name: machine, home, now });
  }

  #logRow(
    { origin, update }: PendingUpdate,
    { changes, now }: { readonly changes: DocumentChanges; readonly now: number },
  ): NewRow {
    const { epoch, machine } = this.writer;
    const isOwn = origin === "local" && machine !== undefined;
    const opensEpoch = this.#head.epoch !== epoch;
    this.#head = { epoch, seq: this.#head.seq + 1 };
    this.#bytes += update.length;
    const removed = isOwn ? storedRemoved(changes.removedText) : null;
    return { documentId: this.id, ...this.#head, origin, update, removed, opensEpoch, now };
  }

  /**
   * Writes a snapshot if there are rows since the last one, and deletes rows that this makes
   * unnecessary.
   */
  async compact(
    db: Kysely<ReplicaTables>,
    now: number,
    droppable: (documentId: number) => Promise<number>,
  ): Promise<void> {
    assert(this.isClean, "what is not flushed is in no snapshot");
    if (this.#head.seq > this.#snapshotSeq) await this.#snapshot(db, now, await droppable(this.id));
  }

  async #snapshot(db: Kysely<ReplicaTables>, now: number, droppable: number): Promise<void> {
    const payload = Y.encodeStateAsUpdate(this.document.ydoc);
    const { seq } = this.#head;
    const bytesKept = Math.max(payload.length / 2, ROW_BYTES_KEPT_MIN);
    const kept = { rows: ROWS_KEPT, bytes: bytesKept };
    const dropThrough = Math.min(
      await lastRowBeyond(db, this.id, { headSeq: seq, kept }),
      droppable,
    );
    await writeSnapshot(db, this.id, { snapshot: { seq, payload, now }, dropThrough });
    this.#snapshotSeq = seq;
    this.#bytes = payload.length;
  }
}

function runsOfOneOrigin(pending: readonly PendingUpdate[]): PendingUpdate[] {
  const runs: { origin: "local" | "remote"; updates: Uint8Array[] }[] = [];
  for (const { origin, update } of pending) {
    const last = runs.at(-1);
    if (last?.origin === origin) last.updates.push(update);
    else runs.push({ origin, updates: [update] });
  }
  return runs.map(({ origin, updates }) => ({ origin, update: mergeUpdates(updates) }));
}
