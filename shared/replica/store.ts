import type { Kysely } from "kysely";
import { compiled } from "../sqlite/compiled.ts";
import type { SqliteDatabase } from "../sqlite/database.ts";
import { returnFreePages } from "../sqlite/free-pages.ts";
import { savepoint, writeTransaction } from "../sqlite/transaction.ts";
import { randomUint32, type World } from "../world.ts";
import type { DocumentAddress } from "./address.ts";
import { CorruptDocumentError } from "./corrupt-document-error.ts";
import { indexChanges, mergeFullText, type RowChange } from "./full-text.ts";
import { writeSnapshot } from "./log-rows.ts";
import {
  type CommittedRow,
  OpenDocument,
  ROW_BYTES_KEPT_MIN,
  type Writer,
} from "./open-document.ts";
import { sweepHistory } from "./sweep-history.ts";
import type { ReplicaTables } from "./tables.ts";

/** Writes that share a commit; more than this wait for the next. */
const WRITES_PER_COMMIT_MAX = 256;

/** Steps of one sweep that clear the full-text index; a large one takes several sweeps. */
const MERGES_PER_SWEEP_MAX = 16;

/** Documents kept in memory between writes. */
const OPEN_DOCUMENTS_MAX = 512;
const OPEN_BYTES_MAX = 64 * 1024 * 1024;

/** What a store works with; it closes the database when it is closed. */
export interface StoreOptions<Tables extends ReplicaTables> {
  readonly database: SqliteDatabase<Tables>;
  readonly world: World;
  readonly writer: Writer;
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

type Write<Tables extends ReplicaTables> = {
  readonly run: (context: WriteContext<Tables>) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
};

type Settle = () => void;

type Step = Parameters<typeof sweepHistory>[0];

/**
 * The durable replica: documents with their logs and derived rows in one database. Writes run one
 * after another; those that wait together share one commit, and each promise settles only after
 * it: what a resolved write did is on the disk. One process writes a database at a time.
 */
export class ReplicaStore<Tables extends ReplicaTables> {
  readonly #options: StoreOptions<Tables>;
  /** By `addressKey`; the one used longest ago comes first. */
  readonly #open = new Map<string, OpenDocument>();
  readonly #listeners = new Set<(rows: readonly CommittedRow[]) => void>();
  #waiting: Write<Tables>[] = [];
  #draining: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  #onTimed: ((durationMs: number, kept: boolean) => void) | undefined;
  readonly #writers: Writers;

  constructor(options: StoreOptions<Tables>) {
    this.#options = options;
    this.#writers = new Writers(options.writer, options.world);
  }

  get writer(): Writer {
    return this.#writers.current;
  }

  /** For reading; sees what is committed. */
  get reader(): Kysely<Tables> {
    return this.#options.database.reader;
  }

  /** Another number whenever something was committed since; see `SqliteDatabase.version`. */
  get version(): number | undefined {
    return this.#options.database.version();
  }

  /**
   * Runs `work` in a write transaction. When it throws, nothing of it is kept and the promise
   * rejects with what it threw; other writes of the same commit are not touched.
   */
  write<Result>(work: (context: WriteContext<Tables>) => Promise<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ run: work, resolve: resolve as (value: unknown) => void, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Calls back with the rows of each commit, in order. Returns how to stop. */
  onCommit(listener: (rows: readonly CommittedRow[]) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * Drops the revisions that are too old and packs the others, shortens logs that have grown large,
   * clears the full-text index of what was overwritten, and gives the room in the file back; all of
   * it in small steps. For quiet times; other writes go on in between. Throws
   * `CorruptDocumentError`, when all else is done, where a history is not what was written.
   */
  async sweep(): Promise<void> {
    const step = <Result>(work: (db: Kysely<ReplicaTables>, now: number) => Promise<Result>) =>
      this.write(({ db, now }) => work(db as unknown as Kysely<ReplicaTables>, now));
    try {
      await sweepHistory(step);
    } finally {
      await this.#sweepRest(step);
    }
  }

  async #sweepRest(step: Step): Promise<void> {
    for (let at = 0; at < MERGES_PER_SWEEP_MAX; at++) {
      if (!(await step((db) => mergeFullText(db, at === 0)))) break;
    }
    const large = await documentsWithLargeLogs(this.reader as unknown as Kysely<ReplicaTables>);
    for (const address of large) await this.write((context) => context.compact(address));
    await returnFreePages(this.#options.database.writer);
  }

  /** Calls back after each commit: how long it took, and whether it was kept or rolled back. */
  timeCommits(onTimed: (durationMs: number, kept: boolean) => void): void {
    this.#onTimed = onTimed;
  }

  /** Calls back whenever no write is left to be made. */
  whenIdle(onIdle: () => void): void {
    this.#onIdle = onIdle;
  }

  /**
   * Gives back the memory that only speeds up what comes next: of the documents that are open, but
   * for the one used last, and of the database. Does nothing while there is something to write.
   */
  rest(): void {
    if (this.#draining) return;
    for (const key of [...this.#open.keys()].slice(0, -1)) this.#open.delete(key);
    this.#options.database.rest();
  }

  /** The documents kept in memory between writes, and how many bytes those took encoded. */
  get inMemory(): { readonly documents: number; readonly bytes: number } {
    let bytes = 0;
    for (const document of this.#open.values()) bytes += document.bytes;
    return { documents: this.#open.size, bytes };
  }

  /** Waits for the writes that were asked for, then closes the database. */
  async close(): Promise<void> {
    while (this.#draining) await this.#draining;
    await this.#options.database.close();
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise<void>((resolve) => this.#options.world.defer(resolve));
      await this.#commit(this.#waiting.splice(0, WRITES_PER_COMMIT_MAX));
    }
    this.#draining = undefined;
    this.#onIdle?.();
  }

  async #commit(writes: readonly Write<Tables>[]): Promise<void> {
    const contexts: Context<Tables>[] = [];
    const settle: Settle[] = [];
    const startedAt = this.#options.world.monotonic();
    try {
      await writeTransaction(this.#options.database.writer, async (db) => {
        for (const write of writes) {
          const context = new Context(this.#options, this.#writers, this.#open, db);
          contexts.push(context);
          settle.push(await runOne(write, context, db, writes.length));
        }
        const replica = db as unknown as Kysely<ReplicaTables>;
        const changes = contexts.flatMap((context) => context.rowChanges);
        indexChanges(replica, changes);
      });
    } catch (thrown) {
      this.#timed(startedAt, false);
      for (const context of contexts) context.discard();
      for (const write of writes) write.reject(thrown);
      return;
    }
    this.#timed(startedAt, true);
    this.#announce(contexts.flatMap((context) => context.rows));
    for (const each of settle) each();
    this.#forgetOldest();
  }

  #timed(startedAt: number, kept: boolean): void {
    this.#onTimed?.(this.#options.world.monotonic() - startedAt, kept);
  }

  /** A listener that throws is a bug, and none of the writes' own: it is thrown by itself. */
  #announce(rows: readonly CommittedRow[]): void {
    if (rows.length === 0) return;
    for (const listener of this.#listeners) {
      try {
        listener(rows);
      } catch (thrown) {
        this.#options.world.defer(() => {
          throw thrown;
        });
      }
    }
  }

  #forgetOldest(): void {
    let { bytes } = this.inMemory;
    for (const [key, document] of this.#open) {
      if (this.#open.size <= OPEN_DOCUMENTS_MAX && bytes <= OPEN_BYTES_MAX) return;
      bytes -= document.bytes;
      this.#open.delete(key);
    }
  }
}

/** Runs one write of a commit. Resolves to how its promise settles after the commit. */
async function runOne<Tables extends ReplicaTables>(
  write: Write<Tables>,
  context: Context<Tables>,
  db: Kysely<Tables>,
  writesInCommit: number,
): Promise<Settle> {
  const step = async () => {
    const result = await write.run(context);
    await context.flushAll();
    return result;
  };
  if (writesInCommit === 1) {
    const result = await step().catch(context.reportDamage);
    return () => write.resolve(result);
  }
  const outcome = await savepoint(db, () => step().catch(context.reportDamage));
  if (outcome.kept) return () => write.resolve(outcome.result);
  context.discard();
  return () => write.reject(outcome.thrown);
}

/** Who this process is in the documents that it loads; another one from each rebuilding on. */
class Writers {
  readonly #world: World;
  #current: Writer;

  constructor(first: Writer, world: World) {
    this.#current = first;
    this.#world = world;
  }

  get current(): Writer {
    return this.#current;
  }

  renew(): void {
    this.#current = { ...this.#current, clientId: randomUint32(this.#world) };
  }
}

class Context<Tables extends ReplicaTables> implements WriteContext<Tables> {
  readonly now: number;
  readonly #inHand = new Set<OpenDocument>();
  /** Documents whose rows in the database, or whose being there at all, may be this write's. */
  readonly #written = new Set<OpenDocument>();
  rows: CommittedRow[] = [];
  rowChanges: RowChange[] = [];

  constructor(
    readonly options: StoreOptions<Tables>,
    readonly writers: Writers,
    readonly openDocuments: Map<string, OpenDocument>,
    readonly db: Kysely<Tables>,
  ) {
    this.now = options.world.now();
  }

  get #replica(): Kysely<ReplicaTables> {
    return this.db as unknown as Kysely<ReplicaTables>;
  }

  async find(address: DocumentAddress): Promise<OpenDocument | undefined> {
    const open = this.openDocuments.get(addressKey(address));
    if (open) return this.#take(open);
    const [row] = await findDocument(this.#replica, address.owner, address.name);
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
    await writeSnapshot(this.#replica, id, snapshot, head.seq);
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
    const document = await OpenDocument.load(this.#replica, id, address, writer);
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

/** The documents whose rows take more room than is kept of any log for sure. */
async function documentsWithLargeLogs(db: Kysely<ReplicaTables>): Promise<DocumentAddress[]> {
  return await db
    .selectFrom("updates")
    .innerJoin("documents", "documents.id", "updates.document_id")
    .select(["owner", "name"])
    .groupBy(["owner", "name"])
    .having(({ fn }) => fn.sum(fn("length", ["payload"])), ">", ROW_BYTES_KEPT_MIN)
    .orderBy("owner")
    .orderBy("name")
    .execute();
}

/** A document keeps its address for good, so one in memory needs no look at the disk. */
function addressKey({ owner, name }: DocumentAddress): string {
  return `${owner}\n${name}`;
}

const findDocument = compiled((db: Kysely<ReplicaTables>, owner: string, name: string) =>
  db.selectFrom("documents").select("id").where("owner", "=", owner).where("name", "=", name),
);
