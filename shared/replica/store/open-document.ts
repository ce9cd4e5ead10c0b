import type { Kysely } from "kysely";
import * as Y from "yjs";
import { AppError, assert } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { explain } from "../../reasons.ts";
import type { Position } from "../../wire/position.ts";
import { type Admission, admitUpdate } from "../admission/admit.ts";
import { findLargeDeletion } from "../conflicts/large-deletion.ts";
import { recordTextConflict } from "../conflicts/text-conflict-record.ts";
import type { DocumentAddress } from "../document/address.ts";
import { type DocumentChanges, ReplicaDocument } from "../document/document.ts";
import type { EntryKind } from "../document/entry-arrays.ts";
import { TRIMMED_PREFIX } from "../document/own-metadata.ts";
import { deletionOf } from "../document/project-deletion.ts";
import { historyTime } from "../history/history-clock.ts";
import {
  appendRow,
  lastRowBeyond,
  loadDocument,
  mergeUpdates,
  type StoredDocument,
  writeSnapshot,
} from "../log/log-rows.ts";
import { nameMachine } from "../log/machines.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { RowChange } from "../search/full-text.ts";
import { storedRemoved } from "../text/removed-text.ts";
import { storedText, writeRows } from "./rows.ts";

/** A snapshot is written when this many rows have come since the last one. */
const ROWS_PER_SNAPSHOT = 256;

/**
 * Rows before a snapshot that stay, for clients that lag: so many at most, and no more bytes than
 * half of the whole document, for that is what a client that lags further gets instead.
 */
const ROWS_KEPT = 1024;
export const ROW_BYTES_KEPT_MIN = 128 * 1024;

/** Why a document that is over its size takes nothing but deletions. */
export const NO_ROOM = explain({ code: "no-room" });

/** The 400 for a write that adds to a full document. */
function documentFull(): AppError {
  return new AppError("invalid_request", NO_ROOM);
}

/** This process as a writer. */
export interface Writer {
  /** 128 random bits, new at each start; see docs/design/sync.md. */
  readonly epoch: string;
  /** The Yjs client id of everything that this process writes. */
  readonly clientId: number;
  /** What the documents say of who that is; they say nothing when it is left out. */
  readonly machine?: string | undefined;
}

/** What one commit added to one document. */
export interface CommittedRow {
  readonly documentId: number;
  readonly address: DocumentAddress;
  readonly epoch: string;
  readonly seq: number;
  readonly origin: "local" | "remote";
  /** Yjs update, v1. */
  readonly update: Uint8Array;
  readonly changes: DocumentChanges;
}

/** What a flush has written. */
export interface Flushed {
  readonly rows: readonly CommittedRow[];
  /** For the full-text index, which is written with the commit. */
  readonly rowChanges: readonly RowChange[];
}

interface PendingUpdate {
  readonly origin: "local" | "remote";
  readonly update: Uint8Array;
}

/**
 * A document in memory beside its log on the disk. Inside a write transaction it may run ahead of
 * the disk until `flush`; when the transaction fails it is thrown away, never mended.
 */
export class OpenDocument {
  #head: Position;
  #snapshotSeq: number;
  #bytes: number;
  #pending: PendingUpdate[] = [];
  /** Whether anything was done to the document since the last flush, even if it came to nothing. */
  #touched = false;
  #flushing = false;
  /** What was read from the disk, until it is made a document. */
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

  /**
   * Made when it is first asked for: it takes ten times the memory of its bytes, and whoever only
   * wants to know where it stands, as every project's first call does, needs none of it.
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

  /** Position of the newest row. */
  get head(): Position {
    return this.#head;
  }

  /** Bytes that the document takes in memory and on the disk, more or less. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether something was changed that `flush` has not written yet. */
  get dirty(): boolean {
    return this.#pending.length > 0;
  }

  /** Whether the document in memory is, for certain, what the disk holds. */
  get isClean(): boolean {
    return !this.#touched && !this.dirty;
  }

  /**
   * Runs an edit. Throws a 400 when it adds to a document that is over its size; what only deletes
   * is allowed. The write must be left then.
   */
  refuseIfFull<Result>(edit: () => Result): Result {
    const { store, clientID } = this.document.ydoc;
    const full = this.isFull;
    const clock = Y.getState(store, clientID);
    const result = edit();
    if (full && Y.getState(store, clientID) > clock) throw documentFull();
    return result;
  }

  /** Whether it is over its size, so that it takes nothing but deletions. */
  get isFull(): boolean {
    return this.#isOver(LIMITS.documentBytes);
  }

  #isOver(bytesMax: number): boolean {
    if (this.#bytes <= bytesMax) return false;
    return Y.encodeStateAsUpdate(this.document.ydoc).length > bytesMax;
  }

  /**
   * Applies an update from another replica if it is admitted; otherwise nothing is changed. What is
   * over `bytesMax` takes only deletions.
   */
  applyUpdate(update: Uint8Array, bytesMax: number = LIMITS.documentBytes): Admission {
    const admission = admitUpdate(this.document, update, this.writer.clientId);
    if (admission.kind !== "admitted") return admission;
    if (admission.adds && this.#isOver(bytesMax)) return { kind: "refused", message: NO_ROOM };
    Y.applyUpdate(this.document.ydoc, update, "remote");
    assert(!this.document.hasPending(), "an admitted update needs nothing more");
    return admission;
  }

  /** Writes what has changed since the last time: a row for each run of one origin. */
  async flush(
    db: Kysely<ReplicaTables>,
    now: number,
    droppable: (documentId: number) => Promise<number>,
  ): Promise<Flushed> {
    assert(!this.#flushing, "a flush that failed ends its write");
    this.#flushing = true;
    const isLocal = this.#pending.some(({ origin }) => origin === "local");
    if (isLocal) {
      // What others deleted they have said themselves.
      if (this.#pending.every(({ origin }) => origin === "local"))
        await this.#tellDeletions(db, now);
      this.#nameWriter(now);
    }
    const pending = this.#pending;
    this.#pending = [];
    const changes = this.document.takeChanges();
    const machine = isLocal ? this.writer.machine : undefined;
    const target = { documentId: this.id, name: this.address.name, now, machine };
    const rowChanges = await writeRows(db, target, { document: this.document, changes });
    const rows: CommittedRow[] = [];
    for (const run of runsOfOneOrigin(pending)) rows.push(this.#append(db, run, { changes, now }));
    if (this.#head.seq - this.#snapshotSeq >= ROWS_PER_SNAPSHOT) {
      await this.#snapshot(db, now, await droppable(this.id));
    }
    this.#touched = false;
    this.#flushing = false;
    return { rows, rowChanges };
  }

  /** Brings the rows that were derived from `former` up to this document. */
  async rewriteRows(
    db: Kysely<ReplicaTables>,
    now: number,
    former: ReplicaDocument,
  ): Promise<readonly RowChange[]> {
    const { document } = this;
    const keysOf = (kind: EntryKind) => new Set([...former[kind].keys(), ...document[kind].keys()]);
    return await writeRows(
      db,
      { documentId: this.id, name: this.address.name, now, machine: undefined },
      {
        document,
        changes: {
          memoryKeys: keysOf("memories"),
          replaced: [],
          metadataKeys: keysOf("metadata"),
          text: true,
          textClients: new Set(),
          removedText: [],
        },
      },
    );
  }

  /** Says who deleted from the text, and records a deletion of most of it. */
  async #tellDeletions(db: Kysely<ReplicaTables>, now: number): Promise<void> {
    const { document, writer } = this;
    const { text, textClients } = document.changes;
    if (!text || deletionOf(document)) return;
    const before = storedText(db, this.id);
    if (before === undefined || before === document.content()) return;
    if (textClients.size === 0 && writer.machine !== undefined) {
      document.setEntry("metadata", TRIMMED_PREFIX + writer.machine, {
        value: now,
        now,
      });
    }
    const notice = findLargeDeletion(before, document.content(), {
      machine: writer.machine,
      at: now,
    });
    if (notice) recordTextConflict(document, notice, { now, time: await historyTime(db, now) });
  }

  /** Whoever has written into the document is named in it. */
  #nameWriter(now: number): void {
    const { clientId, machine } = this.writer;
    if (machine === undefined || Y.getState(this.document.ydoc.store, clientId) === 0) return;
    nameMachine(this.document, clientId, { name: machine, now });
  }

  #append(
    db: Kysely<ReplicaTables>,
    { origin, update }: PendingUpdate,
    { changes, now }: { readonly changes: DocumentChanges; readonly now: number },
  ): CommittedRow {
    const { epoch, machine } = this.writer;
    const isOwn = origin === "local" && machine !== undefined;
    const opensEpoch = this.#head.epoch !== epoch;
    const seq = appendRow(db, {
      documentId: this.id,
      origin,
      payload: update,
      removed: isOwn ? storedRemoved(changes.removedText) : null,
      epoch,
      opensEpoch,
      now,
    });
    assert(seq === this.#head.seq + 1, "this process alone writes the log");
    this.#head = { epoch, seq };
    this.#bytes += update.length;
    return { documentId: this.id, address: this.address, epoch, seq, origin, update, changes };
  }

  /** Writes a snapshot where there are rows since the last one, and drops what that allows. */
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
