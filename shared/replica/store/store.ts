import type { Kysely } from "kysely";
import type { SqliteDatabase } from "../../sqlite/database.ts";
import { returnFreePages } from "../../sqlite/free-pages.ts";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import { savepoint, writeTransaction } from "../../sqlite/transaction.ts";
import type { DocumentAddress } from "../document/address.ts";
import { sweepHistory } from "../history/sweep-history.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { indexChanges, mergeFullText } from "../search/full-text.ts";
import {
  type CommittedRow,
  type OpenDocument,
  ROW_BYTES_KEPT_MIN,
  type Writer,
} from "./open-document.ts";
import { Context, type ContextOptions, type WriteContext, Writers } from "./write-context.ts";

/** Writes that share a commit; more than this wait for the next. */
const WRITES_PER_COMMIT_MAX = 256;

/** Steps of one sweep that clear the full-text index; a large one takes several sweeps. */
const MERGES_PER_SWEEP_MAX = 16;

/** Documents kept in memory between writes. */
const OPEN_DOCUMENTS_MAX = 512;
const OPEN_BYTES_MAX = 64 * 1024 * 1024;

/** What a store works with; it closes the database when it is closed. */
export interface StoreOptions<Tables extends ReplicaTables> extends ContextOptions<Tables> {
  readonly database: SqliteDatabase<Tables>;
  readonly writer: Writer;
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
      this.write(({ db, now }) => work(narrowTables(db), now));
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
    const large = await documentsWithLargeLogs(narrowTables(this.reader));
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
          const context = new Context(
            this.#options,
            { writers: this.#writers, openDocuments: this.#open },
            db,
          );
          contexts.push(context);
          settle.push(await runOne(write, context, { db, writesInCommit: writes.length }));
        }
        const replica: Kysely<ReplicaTables> = narrowTables(db);
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
  { db, writesInCommit }: { readonly db: Kysely<Tables>; readonly writesInCommit: number },
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
