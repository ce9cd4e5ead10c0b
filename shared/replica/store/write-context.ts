import type { Kysely } from "kysely";
import { assert } from "../../errors.ts";
import type { AccountId } from "../../ids.ts";
import { compiled } from "../../sqlite/compiled.ts";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import { NO_PAUSE, type Pause } from "../../turns.ts";
import { randomUint32, type World } from "../../world.ts";
import type { DocumentAddress } from "../document/address.ts";
import { CorruptDocumentError } from "../log/corrupt-document-error.ts";
import { writeSnapshot } from "../log/log-rows.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { type CommittedRow, OpenDocument, type RowWriter, type Writer } from "./open-document.ts";
import { newWriter } from "./writer.ts";

/** What a write uses, besides its transaction. */
export interface ContextOptions<Tables extends ReplicaTables> {
  readonly world: World;
  /**
   * The last row of a document's log that the host no longer needs. Later rows survive compaction.
   * Without this, all rows may go.
   */
  readonly droppable?: (db: Kysely<Tables>, documentId: number) => Promise<number>;
  /** Called between the steps of a long write; without it the write is done in one turn. */
  readonly pause?: Pause | undefined;
  /** See `FlushOptions`. */
  readonly writeRows?: RowWriter | undefined;
  /** Called with each damaged document. The read that found it still fails. */
  readonly onDamage?: ((thrown: unknown) => void) | undefined;
}

/** What a write can do. Valid until the write's promise settles. */
export interface WriteContext<Tables extends ReplicaTables> {
  /** The open transaction, for other tables of the same database. */
  readonly db: Kysely<Tables>;
  readonly now: number;
  /** To be called between the steps of a long write. */
  readonly pause: Pause;
  /** The document; created if it does not exist. */
  open(address: DocumentAddress): Promise<OpenDocument>;
  find(address: DocumentAddress): Promise<OpenDocument | undefined>;
  /**
   * Takes over a draft: an edit that was made before this write. This write must not have opened
   * the document. Undefined if the document has changed since, or if the draft was adopted before,
   * perhaps by an earlier run of this very write.
   */
  adopt<Result>(draft: Draft<Result>): Promise<OpenDocument | undefined>;
  /** Writes the changes so far, so that the document's `head` includes them. */
  flush(document: OpenDocument): Promise<void>;
  /** The same for every document that was opened. The end of a write does it, too. */
  flushAll(): Promise<void>;
  /**
   * Rebuilds a document from one update, as if it had never had any other content. Its rows are
   * updated, and a text that disappears is kept in the history. It writes under a new client id
   * from then on.
   */
  rebuild(document: OpenDocument, update: Uint8Array): Promise<OpenDocument>;
  /** Removes from a document's log what is no longer needed. */
  compact(address: DocumentAddress): Promise<void>;
  /**
   * To be called when this write itself has changed the owner's documents in the database. They are
   * read again, and written under a new epoch and a new client id, so that no position and no id of
   * the former content is used a second time.
   */
  reread(owner: AccountId): void;
  /** This process may be a copy of one that runs: it writes under other client ids from now on. */
  renewIds(): void;
  /** Gives a document to an owner without a document of this name. The former owner loses it. */
  giveTo(document: OpenDocument, owner: AccountId): Promise<void>;
}

/** A document with an edit that nobody sees until a write adopts it. */
export interface Draft<Result> {
  readonly open: OpenDocument;
  readonly now: number;
  /** The newest row that it was edited upon; undefined if there was no such document. */
  readonly baseSeq: number | undefined;
  /** What the edit has returned. */
  readonly result: Result;
}

/** Drafts that a write has taken on. */
const adopted = new WeakSet<Draft<unknown>>();

/**
 * This process's identity as a writer. It changes with each rebuild. Each document of the database
 * has a client id of its own. Two of them may be replicas of one document, as in a home with two
 * remotes of one account: with one client id, each would take the other's writes for its own, or
 * never send them.
 */
export class Writers {
  readonly #world: World;
  readonly #first: Writer;
  #current: Writer;

  constructor(first: Writer, world: World) {
    this.#first = first;
    this.#current = first;
    this.#world = world;
  }

  get current(): Writer {
    return this.#current;
  }

  /**
   * The writer of one document. The number of a document's row is never given to another document.
   */
  of(documentId: number): Writer {
    const { epoch, clientId } = this.#current;
    return this.#named(epoch, clientIdOf(clientId, documentId));
  }

  /** Takes the epoch of a database that others write, too, and other client ids. */
  beginAs(epoch: string): void {
    this.#become(epoch, randomUint32(this.#world));
  }

  /** Takes other client ids. */
  renew(): void {
    this.#become(this.#current.epoch, randomUint32(this.#world));
  }

  /** Takes another epoch, too, as if the process had started again. */
  begin(): void {
    const { epoch, clientId } = newWriter(this.#world);
    this.#become(epoch, clientId);
  }

  #become(epoch: string, clientId: number): void {
    this.#current = this.#named(epoch, clientId);
  }

  #named(epoch: string, clientId: number): Writer {
    const first = this.#first;
    return {
      epoch,
      clientId,
      get machine() {
        return first.machine;
      },
      get home() {
        return first.home;
      },
    };
  }
}

/** An odd number of 32 bits: its multiples by different numbers differ in their 32 bits. */
const SPREAD = 0x9e3779b1;

/** A process's client id for one document; different for any two of a database. */
function clientIdOf(ofProcess: number, documentId: number): number {
  return (ofProcess ^ Math.imul(documentId - 1, SPREAD)) >>> 0;
}

/** What all writes of a store share. */
export interface StoreState {
  readonly writers: Writers;
  readonly openDocuments: Map<string, OpenDocument>;
}

/** The transaction of one write. */
export interface WriteTransaction<Tables extends ReplicaTables> {
  readonly db: Kysely<Tables>;
  /** The time of the write; the world's if left out. */
  readonly now?: number | undefined;
  /** Whose rows it has locked, and so whose documents may be opened; everybody's if left out. */
  readonly ownersLocked?: ReadonlySet<AccountId> | undefined;
}

/** One write in a transaction, which other writes may share. */
export class Context<Tables extends ReplicaTables> implements WriteContext<Tables> {
  readonly now: number;
  readonly writers: Writers;
  readonly openDocuments: Map<string, OpenDocument>;
  readonly db: Kysely<Tables>;
  readonly #ownersLocked: ReadonlySet<AccountId> | undefined;
  readonly #inHand = new Set<OpenDocument>();
  /** Documents whose rows may be from this write, or which it may have created. */
  readonly #written = new Set<OpenDocument>();
  rows: CommittedRow[] = [];

  constructor(
    readonly options: ContextOptions<Tables>,
    { writers, openDocuments }: StoreState,
    { db, now, ownersLocked }: WriteTransaction<Tables>,
  ) {
    this.writers = writers;
    this.openDocuments = openDocuments;
    this.db = db;
    this.#ownersLocked = ownersLocked;
    this.now = now ?? options.world.now();
  }

  get pause(): Pause {
    return this.options.pause ?? NO_PAUSE;
  }

  get #replica(): Kysely<ReplicaTables> {
    return narrowTables(this.db);
  }

  async find(address: DocumentAddress): Promise<OpenDocument | undefined> {
    const isLocked = this.#ownersLocked?.has(address.owner) ?? true;
    assert(isLocked, "a write says whose documents it opens");
    const key = addressKey(address);
    const open = this.openDocuments.get(key);
    if (open && !open.isBehind) return this.#markUsed(open);
    const [row] = await findDocument(this.#replica, { owner: address.owner, name: address.name });
    if (open && row && (await this.#catchUp(open, row))) return this.#markUsed(open);
    this.openDocuments.delete(key);
    return row && (await this.#load(row.id, address));
  }

  /** Whether a document that is behind is, from now on, the one on the disk. */
  async #catchUp(open: OpenDocument, { id, seq }: FoundDocument): Promise<boolean> {
    const isSame = open.id === id && open.writer.clientId === this.writers.of(id).clientId;
    return isSame && (await open.catchUp(this.#replica, seq));
  }

  async open(address: DocumentAddress): Promise<OpenDocument> {
    const found = await this.find(address);
    if (found) return found;
    return await this.#load(await this.#insert(address, { now: this.now }), address);
  }

  async #insert(
    address: DocumentAddress,
    { now, id }: { readonly now: number; readonly id?: number },
  ): Promise<number> {
    const inserted = await this.#replica
      .insertInto("documents")
      .values({ id, ...address, created_at: now, updated_at: now, last_synced_at: null })
      .returning("id")
      .executeTakeFirstOrThrow();
    return inserted.id;
  }

  /**
   * A document that does not exist yet, with an id that no other one gets. Only `adopt` creates it.
   */
  async reserve(address: DocumentAddress): Promise<OpenDocument> {
    const id = await this.#insert(address, { now: this.now });
    await this.#replica.deleteFrom("documents").where("id", "=", id).execute();
    return OpenDocument.empty(id, { address, writer: this.writers.of(id) });
  }

  async adopt<Result>(draft: Draft<Result>): Promise<OpenDocument | undefined> {
    const { open, baseSeq, now } = draft;
    const { id, address } = open;
    const { owner, name } = address;
    const [row] = await findDocument(this.#replica, { owner, name });
    // A document that was made anew in the database is written under another client id.
    const { clientId } = this.writers.of(id);
    const isOther = row?.seq !== baseSeq || (row && row.id !== id);
    if (isOther || clientId !== open.writer.clientId) return undefined;
    // After a flush it has nothing more to write, even if those rows are rolled back.
    if (adopted.has(draft)) return undefined;
    adopted.add(draft);
    if (!row) {
      this.#written.add(open);
      await this.#insert(address, { now, id });
    }
    return this.#markUsed(open);
  }

  async flush(document: OpenDocument): Promise<void> {
    if (document.isClean) return;
    this.#written.add(document);
    const rows = await document.flush(this.#replica, this.now, {
      droppable: this.#droppable,
      pause: this.pause,
      writeRows: this.options.writeRows,
    });
    this.rows.push(...rows);
  }

  async rebuild(former: OpenDocument, update: Uint8Array): Promise<OpenDocument> {
    await this.flush(former);
    this.#written.add(former);
    const { id, address, head } = former;
    const snapshot = { seq: head.seq, payload: update, now: this.now };
    await writeSnapshot(this.#replica, id, { snapshot, dropThrough: head.seq });
    this.#inHand.delete(former);
    this.writers.renew();
    const document = await this.#load(id, address);
    await document.rewriteRows(this.#replica, this.now, former.document);
    return document;
  }

  async compact(address: DocumentAddress): Promise<void> {
    const document = await this.find(address);
    if (!document) return;
    await this.flush(document);
    this.#written.add(document);
    await document.compact(this.#replica, this.now, this.#droppable);
  }

  async giveTo(document: OpenDocument, owner: AccountId): Promise<void> {
    await this.flush(document);
    await this.#replica
      .updateTable("documents")
      .set({ owner })
      .where("id", "=", document.id)
      .execute();
    // Under its new address it is loaded again; under the former one it no longer exists.
    this.#inHand.delete(document);
    this.openDocuments.delete(addressKey(document.address));
  }

  reread(owner: AccountId): void {
    for (const [key, document] of this.openDocuments) {
      if (document.address.owner !== owner) continue;
      this.#inHand.delete(document);
      this.openDocuments.delete(key);
    }
    this.writers.begin();
  }

  renewIds(): void {
    this.#inHand.clear();
    this.openDocuments.clear();
    this.writers.renew();
  }

  readonly #droppable = (id: number): Promise<number> =>
    this.options.droppable?.(this.db, id) ?? Promise.resolve(Number.POSITIVE_INFINITY);

  readonly reportDamage = (thrown: unknown): never => {
    if (thrown instanceof CorruptDocumentError) this.options.onDamage?.(thrown);
    throw thrown;
  };

  /** Whether rows of a document may be from this write. */
  get mayHaveWritten(): boolean {
    return this.#written.size > 0;
  }

  async flushAll(): Promise<void> {
    for (const document of this.#inHand) await this.flush(document);
  }

  /** Forgets the documents with changes that were rolled back. */
  discard(): void {
    for (const document of this.#inHand) {
      if (document.isClean && !this.#written.has(document)) continue;
      this.openDocuments.delete(addressKey(document.address));
    }
    this.rows = [];
  }

  async #load(id: number, address: DocumentAddress): Promise<OpenDocument> {
    const writer = this.writers.of(id);
    const document = await OpenDocument.load(this.#replica, id, { address, writer });
    // An earlier write, which may still fail, may just have given it to that owner.
    this.#written.add(document);
    return this.#markUsed(document);
  }

  /** Marks it as the one used last, to be flushed by this write. */
  #markUsed(document: OpenDocument): OpenDocument {
    const key = addressKey(document.address);
    this.openDocuments.delete(key);
    this.openDocuments.set(key, document);
    this.#inHand.add(document);
    return document;
  }
}

/**
 * The key under which a document is kept in memory. Only `giveTo` gives a document another address.
 */
export function addressKey({ owner, name }: DocumentAddress): string {
  return `${owner}\n${name}`;
}

interface FoundDocument {
  readonly id: number;
  readonly seq: number;
}

const findDocument = compiled(
  (
    db: Kysely<ReplicaTables>,
    { owner, name }: { readonly owner: AccountId; readonly name: string },
  ) =>
    db
      .selectFrom("documents")
      .select(["id", "seq"])
      .where("owner", "=", owner)
      .where("name", "=", name),
);
