import type { Kysely } from "kysely";
import type { AccountId } from "../../ids.ts";
import type { SqliteDatabase } from "../../sqlite/database.ts";
import { returnFreePages } from "../../sqlite/free-pages.ts";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import { savepoint, writeTransaction } from "../../sqlite/transaction.ts";
import { NO_PAUSE, type Pause, Queues } from "../../turns.ts";
import type { World } from "../../world.ts";
import type { DocumentAddress } from "../document/address.ts";
import { sweepHistory } from "../history/sweep-history.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { mergeFullText } from "../search/full-text.ts";
import { indexSome } from "../search/unindexed.ts";
import { LateIndex } from "./late-index.ts";
import { isLongCommit, lightenCommit, writeLogBack } from "./long-commit.ts";
import {
  type CommittedRow,
  type OpenDocument,
  ROW_BYTES_KEPT_MIN,
  type Writer,
} from "./open-document.ts";
import {
  addressKey,
  Context,
  type ContextOptions,
  type Draft,
  type WriteContext,
  Writers,
} from "./write-context.ts";

/** At most this many writes share a commit. Others wait for the next. */
const WRITES_PER_COMMIT_MAX = 256;

/** Steps in which one sweep cleans the full-text index. A large index takes several sweeps. */
const MERGES_PER_SWEEP_MAX = 16;

/** Documents kept in memory between writes. */
const OPEN_DOCUMENTS_MAX = 512;
const OPEN_BYTES_MAX = 64 * 1024 * 1024;

/** What a store needs. It closes the database with itself. */
export interface StoreOptions<Tables extends ReplicaTables> extends ContextOptions<Tables> {
  readonly database: SqliteDatabase<Tables>;
  readonly writer: Writer;
  /** The full-text index follows the rows after their commit; see `search`. */
  readonly indexesLater?: boolean;
}

type Write<Tables extends ReplicaTables> = {
  readonly run: (context: Context<Tables>) => Promise<unknown>;
  /** Called in the turn of the commit, as `reject`. */
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** It has a commit of its own, since others would wait for it. */
  readonly isLong: boolean;
};

/** What is done to a document before its write; see `ReplicaStore.draft`. */
export interface Edit<Result> {
  readonly address: DocumentAddress;
  /** Also where there is no such document yet. */
  readonly create: boolean;
  readonly edit: (
    open: OpenDocument,
    turns: { readonly now: number; readonly pause: Pause },
  ) => Promise<Result>;
}

type Settle = () => void;

const EVERYBODY = { owner: undefined };

/** Writes what is kept of an owner, or of all; undefined if there is nothing. Never rejects. */
type Settler = (owner: AccountId | undefined) => Promise<void> | undefined;

/** True: more is to be done. */
type SweepStep<Tables> = (db: Kysely<Tables>, now: number) => Promise<boolean>;

type Step = Parameters<typeof sweepHistory>[0];

/**
 * The durable replica: documents with their logs and derived rows in one database. Writes run one
 * after another. Those that wait together share one commit, and each promise settles only after it:
 * a resolved write is on the disk. One process writes a database at a time.
 *
 * ```
 * await store.write(async (context) => {
 *   const { document } = await context.open(projectDocument(account, project));
 *   document.setEntry("memories", "editor", { value: "vim", now: context.now });
 * });
 * ```
 */
export class ReplicaStore<Tables extends ReplicaTables> {
  readonly #options: StoreOptions<Tables>;
  /** By `addressKey`; the one that was unused for longest comes first. */
  readonly #open = new Map<string, OpenDocument>();
  readonly #listeners = new Set<(rows: readonly CommittedRow[]) => void>();
  #waiting: Write<Tables>[] = [];
  #draining: Promise<void> | undefined;
  #committing: Promise<boolean> | undefined;
  /** Writes that are edited before they are asked for, one of an owner at a time. */
  readonly longWrites = new Queues<AccountId>();
  #onIdle: (() => void) | undefined;
  readonly #settlers: Settler[] = [];
  readonly #sweepers: SweepStep<Tables>[] = [];
  #onTimed: ((durationMs: number, kept: boolean) => void) | undefined;
  readonly #writers: Writers;
  readonly #lateIndex: LateIndex | undefined;

  constructor(options: StoreOptions<Tables>) {
    this.#options = options;
    this.#writers = new Writers(options.writer, options.world);
    if (options.indexesLater) this.#lateIndex = this.#createLateIndex(options.world);
  }

  #createLateIndex(world: World): LateIndex {
    return new LateIndex({
      reader: narrowTables(this.reader),
      world,
      indexSome: (owner) =>
        this.write(({ db }) => this.#indexSome(narrowTables(db), owner), { isLong: true }),
    });
  }

  async #indexSome(db: Kysely<ReplicaTables>, owner: AccountId | undefined): Promise<void> {
    await indexSome(db, { owner }, this.pause);
  }

  get writer(): Writer {
    return this.#writers.current;
  }

  /** For reading. Sees what is committed. */
  get reader(): Kysely<Tables> {
    return this.#options.database.reader;
  }

  /** To be called between the steps of long work with what was read. */
  get pause(): Pause {
    return this.#options.pause ?? NO_PAUSE;
  }

  /** Changes whenever something was committed; see `SqliteDatabase.version`. */
  get version(): number | undefined {
    return this.#options.database.version();
  }

  /**
   * Runs `work` in a write transaction. If it throws, all its changes are undone and the promise
   * rejects with its error. Other writes of the same commit are not affected.
   */
  write<Result>(
    work: (context: WriteContext<Tables>) => Promise<Result>,
    { isLong = false }: { readonly isLong?: boolean } = {},
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      // It is called with what `work` gives, which is a `Result`.
      this.#ask({ run: work, resolve: resolve as (value: unknown) => void, reject, isLong });
    });
  }

  #ask(write: Write<Tables>): void {
    this.#waiting.push(write);
    this.#draining ??= this.#drain();
  }

  /**
   * Edits a document before its write, which then has nothing to do but write rows: long work, for
   * which no other write waits. Nobody sees the edit until `WriteContext.adopt`, and it is dropped
   * if somebody else writes to the document meanwhile. Undefined if the edit throws, or there is no
   * document and `create` is not given: the write then has to do it all, and says what is wrong.
   */
  async draft<Result>({ address, create, edit }: Edit<Result>): Promise<Draft<Result> | undefined> {
    const taken = await this.#takeOut(address, create);
    if (!taken) return undefined;
    const { open, baseSeq } = taken;
    const now = this.#options.world.now();
    // Whoever waits for a commit comes first.
    const pause = () =>
      this.pause()
        ?.then(() => this.#committing)
        .then(() => this.pause());
    try {
      const result = await edit(open, { now, pause });
      await open.prepare(narrowTables(this.reader), now, pause);
      return { open, baseSeq, now, result };
    } catch {
      return undefined;
    }
  }

  /** The document as the last commit left it, which is no longer kept in memory for others. */
  #takeOut(
    address: DocumentAddress,
    create: boolean,
  ): Promise<Pick<Draft<unknown>, "open" | "baseSeq"> | undefined> {
    const key = addressKey(address);
    return new Promise((resolve, reject) => {
      let empty: OpenDocument | undefined;
      const run = async (context: Context<Tables>) => {
        const found = await context.find(address);
        if (!found && create) empty = await context.reserve(address);
      };
      const takeOut = () => {
        const open = this.#open.get(key);
        this.#open.delete(key);
        if (open) resolve({ open, baseSeq: open.head.seq });
        else resolve(empty && { open: empty, baseSeq: undefined });
      };
      this.#ask({ run, resolve: takeOut, reject, isLong: false });
    });
  }

  /**
   * Runs a search of an owner's memories. The full-text index then has all that was committed
   * before. Not to be called within a write, which would wait for itself.
   */
  search<Found>(owner: AccountId, search: () => Promise<Found>): Promise<Found> {
    return this.#lateIndex?.search(owner, search) ?? search();
  }

  /** Calls back with the rows of each commit, in order. Returns a function that ends this. */
  onCommit(listener: (rows: readonly CommittedRow[]) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * Deletes old revisions and packs others, shortens large logs, cleans the full-text index, and
   * returns free space in the file; all in small steps, between which other writes go on. For quiet
   * times. Throws `CorruptDocumentError` at the end if a history is damaged.
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
    for (const sweeper of this.#sweepers) {
      while (await this.write(({ db, now }) => sweeper(db, now)));
    }
    const large = await documentsWithLargeLogs(narrowTables(this.reader));
    for (const address of large) await this.write((context) => context.compact(address));
    await returnFreePages(this.#options.database.writer);
  }

  /** `sweeper` is a step of each sweep, again and again until nothing is left of it to do. */
  onSweep(sweeper: SweepStep<Tables>): void {
    this.#sweepers.push(sweeper);
  }

  /** `settler` writes what is kept in memory for a while; see `settle`. */
  onSettle(settler: Settler): void {
    this.#settlers.push(settler);
  }

  /**
   * Resolves when everything is in the database that was kept to be written together, of an owner
   * or of all, as far as it can be written. Not to be called within a write, which would wait for
   * itself.
   */
  async settle(owner?: AccountId): Promise<void> {
    for (const settler of this.#settlers) await settler(owner);
  }

  /** Calls back after each commit: how long it took, and whether it succeeded. */
  timeCommits(onTimed: (durationMs: number, kept: boolean) => void): void {
    this.#onTimed = onTimed;
  }

  /** Calls back whenever no write is waiting. */
  whenIdle(onIdle: () => void): void {
    this.#onIdle = onIdle;
  }

  /**
   * Frees memory that only makes later work faster: of open documents except the one used last, and
   * of the database. Does nothing while a write is waiting.
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

  /** Waits for all requested writes, then closes the database. */
  async close(): Promise<void> {
    await this.longWrites.allDone();
    await this.settle();
    await this.#lateIndex?.stop();
    while (this.#draining) await this.#draining;
    await this.#options.database.close();
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (!(await this.#commitNext())) continue;
      await this.#ready();
      // Who has waited for the long commit waits for nothing else.
      if (this.#waiting[0]?.isLong === false) await this.#commitNext();
      await writeLogBack(this.#options.database.writer);
    }
    this.#draining = undefined;
    this.#onIdle?.();
  }

  /** Resolves when everything has run that is ready to. */
  #ready(): Promise<void> {
    return new Promise((resolve) => this.#options.world.defer(resolve));
  }

  /** True: the log has to be written back. */
  #commitNext(): Promise<boolean> {
    this.#committing = this.#ready().then(() => {
      const firstLong = this.#waiting.findIndex(({ isLong }) => isLong);
      const count = firstLong === -1 ? WRITES_PER_COMMIT_MAX : Math.max(firstLong, 1);
      return this.#commit(this.#waiting.splice(0, Math.min(count, WRITES_PER_COMMIT_MAX)));
    });
    return this.#committing;
  }

  async #commit(writes: readonly Write<Tables>[]): Promise<boolean> {
    const { pause } = this.#options;
    let isLong = false;
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
        if (!this.#lateIndex && contexts.some((context) => context.mayHaveWritten)) {
          while (await indexSome(replica, EVERYBODY, this.pause));
        }
        isLong = pause !== undefined && isLongCommit(contexts.flatMap(({ rows }) => rows));
        if (pause && isLong) await lightenCommit(replica, pause);
      });
    } catch (thrown) {
      this.#timed(startedAt, false);
      for (const context of contexts) context.discard();
      for (const write of writes) write.reject(thrown);
      return isLong;
    }
    this.#timed(startedAt, true);
    this.#lateIndex?.follow();
    this.#announce(contexts.flatMap((context) => context.rows));
    for (const each of settle) each();
    this.#forgetOldest();
    return isLong;
  }

  #timed(startedAt: number, kept: boolean): void {
    this.#onTimed?.(this.#options.world.monotonic() - startedAt, kept);
  }

  /** A listener's error is a bug, but not the writes': it is thrown separately. */
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

/**
 * Runs one write of a commit. Resolves to the outcome of its promise, to be settled after the
 * commit.
 */
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

/** The documents whose rows take more space than any log may keep. */
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
