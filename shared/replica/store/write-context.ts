import type { Kysely } from "kysely";
import { compiled } from "../../sqlite/compiled.ts";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import { randomUint32, type World } from "../../world.ts";
import type { DocumentAddress } from "../document/address.ts";
import { CorruptDocumentError } from "../log/corrupt-document-error.ts";
import { writeSnapshot } from "../log/log-rows.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { RowChange } from "../search/full-text.ts";
import { type CommittedRow, OpenDocument, type Writer } from "./open-document.ts";

/** What a write works with, beside its transaction. */
export interface ContextOptions<Tables extends ReplicaTables> {
  readonly world: World;
  /**
   * The last row of a document's log that nobody needs any more, as far as the host knows; rows
   * after it survive compaction. None limits it when left out.
   */
  readonly droppable?: (db: Kysely<Tables>, documentId: number) => Promise<number>;
  /** Told of each document that is not what was written; whatever wanted it fails all the same. */
  readonly onDamage?: ((thrown: unknown) => void) | undefined;
}

/** What a write may do. Valid until the write's promise settles. */
export interface WriteContext<Tables extends ReplicaTables> {
  /** The open transaction, for other tables of the same database. */
  readonly db: Kysely<Tables>;
  readonly now: number;
  /** The document, made if there is none. */
  open(address: DocumentAddress): Promise<OpenDocument>;
  find(address: DocumentAddress): Promise<OpenDocument | undefined>;
  /** Writes what was changed so far, so that the document's `head` counts it. */
  flush(document: OpenDocument): Promise<void>;
  /**
   * Makes a document anew from one update, as if it had never held anything else. Its rows follow;
   * a text that goes stays in the history. What it writes from now on is another client's.
   */
  rebuild(document: OpenDocument, update: Uint8Array): Promise<OpenDocument>;
  /** Shortens a document's log to what is still needed of it. */
  compact(address: DocumentAddress): Promise<void>;
  /** Gives a document to an owner that has none of its name; the former one has it no more. */
  giveTo(document: OpenDocument, owner: string): Promise<void>;
}

/** Who this process is in the documents that it loads; another one from each rebuilding on. */
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

  renew(): void {
    const first = this.#first;
    this.#current = {
      epoch: first.epoch,
      clientId: randomUint32(this.#world),
      get machine() {
        return first.machine;
      },
    };
  }
}

/** What all writes of a store share. */
export interface StoreState {
  readonly writers: Writers;
  readonly openDocuments: Map<string, OpenDocument>;
}

/** What one write does in a transaction that others may share. */
export class Context<Tables extends ReplicaTables> implements WriteContext<Tables> {
  readonly now: number;
  readonly writers: Writers;
  readonly openDocuments: Map<string, OpenDocument>;
  readonly #inHand = new Set<OpenDocument>();
  /** Documents whose rows in the database, or whose being there at all, may be this write's. */
  readonly #written = new Set<OpenDocument>();
  rows: CommittedRow[] = [];
  rowChanges: RowChange[] = [];

  constructor(
    readonly options: ContextOptions<Tables>,
    { writers, openDocuments }: StoreState,
    readonly db: Kysely<Tables>,
  ) {
    this.writers = writers;
    this.openDocuments = openDocuments;
    this.now = options.world.now();
  }

  get #replica(): Kysely<ReplicaTables> {
    return narrowTables(this.db);
  }

  async find(address: DocumentAddress): Promise<OpenDocument | undefined> {
    const open = this.openDocuments.get(addressKey(address));
    if (open) return this.#take(open);
    const [row] = await findDocument(this.#replica, { owner: address.owner, name: address.name });
    return row && (await this.#load(row.id, address));
  }

  async open(address: DocumentAddress): Promise<OpenDocument> {
    const found = await this.find(address);
    if (found) return found;
    const { id } = await this.#replica
      .insertInto("documents")
      .values({ ...address, created_at: this.now, updated_at: this.now, last_synced_at: null })
      .returning("id")
      .executeTakeFirstOrThrow();
    return await this.#load(id, address);
  }

  async flush(document: OpenDocument): Promise<void> {
    if (document.isClean) return;
    this.#written.add(document);
    const { rows, rowChanges } = await document.flush(this.#replica, this.now, this.#droppable);
    this.rows.push(...rows);
    this.rowChanges.push(...rowChanges);
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
    const changes = await document.rewriteRows(this.#replica, this.now, former.document);
    this.rowChanges.push(...changes);
    return document;
  }

  async compact(address: DocumentAddress): Promise<void> {
    const document = await this.find(address);
    if (!document) return;
    await this.flush(document);
    this.#written.add(document);
    await document.compact(this.#replica, this.now, this.#droppable);
  }

  async giveTo(document: OpenDocument, owner: string): Promise<void> {
    await this.flush(document);
    await this.#replica
      .updateTable("documents")
      .set({ owner })
      .where("id", "=", document.id)
      .execute();
    // By its new address it is loaded anew; by the former one nobody finds it any more.
    this.#inHand.delete(document);
    this.openDocuments.delete(addressKey(document.address));
  }

  readonly #droppable = (id: number): Promise<number> =>
    this.options.droppable?.(this.db, id) ?? Promise.resolve(Number.POSITIVE_INFINITY);

  readonly reportDamage = (thrown: unknown): never => {
    if (thrown instanceof CorruptDocumentError) this.options.onDamage?.(thrown);
    throw thrown;
  };

  async flushAll(): Promise<void> {
    for (const document of this.#inHand) await this.flush(document);
  }

  /** Forgets the documents that hold what was rolled back; others are as they were. */
  discard(): void {
    for (const document of this.#inHand) {
      if (document.isClean && !this.#written.has(document)) continue;
      this.openDocuments.delete(addressKey(document.address));
    }
    this.rows = [];
    this.rowChanges = [];
  }

  async #load(id: number, address: DocumentAddress): Promise<OpenDocument> {
    const writer = this.writers.current;
    const document = await OpenDocument.load(this.#replica, id, { address, writer });
    // It may have been given to that owner just before, by a write that is still to fail.
    this.#written.add(document);
    return this.#take(document);
  }

  /** Now the one used last, and this write's to flush. */
  #take(document: OpenDocument): OpenDocument {
    const key = addressKey(document.address);
    this.openDocuments.delete(key);
    this.openDocuments.set(key, document);
    this.#inHand.add(document);
    return document;
  }
}

/** A document keeps its address for good, so one in memory needs no look at the disk. */
function addressKey({ owner, name }: DocumentAddress): string {
  return `${owner}\n${name}`;
}

const findDocument = compiled(
  (db: Kysely<ReplicaTables>, { owner, name }: { readonly owner: string; readonly name: string }) =>
    db.selectFrom("documents").select("id").where("owner", "=", owner).where("name", "=", name),
);
