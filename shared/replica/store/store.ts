// A write of a replica in one transaction, and the exchange with other replicas.
// The daemon and the server import from here.

import type { Kysely } from "kysely";
import type { AccountId } from "../../ids.ts";
import type { SqliteDatabase } from "../../sqlite/database.ts";
import { returnFreePages } from "../../sqlite/free-pages.ts";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import { savepoint, writeTransaction } from "../../sqlite/transaction.ts";
import { comeFirst, NO_PAUSE, type Pause } from "../../turns.ts";
import type { World } from "../../world.ts";
import { sweepHistory } from "../history/sweep-history.ts";
import { fileAll, fileSome } from "../history/unfiled.ts";
import { documentsWithLargeLogs } from "../log/large-logs.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { mergeFullText } from "../search/full-text.ts";
import { indexSome } from "../search/unindexed.ts";
import { LateRows } from "./late-rows.ts";
import { isLongCommit, lightenCommit, writeLogBack } from "./long-commit.ts";
import { type AskedWrite, Replica, type ReplicaSetup } from "./replica.ts";
import { Context } from "./write-context.ts";

/** At most this many writes share a commit. Others wait for the next. */
const WRITES_PER_COMMIT_MAX = 256;

/** Steps in which one sweep cleans the full-text index. A large index takes several sweeps. */
const MERGES_PER_SWEEP_MAX = 16;

/** What a store needs. It closes the database with itself. */
export interface StoreOptions<Tables extends ReplicaTables> extends ReplicaSetup<Tables> {
  readonly database: SqliteDatabase<Tables>;
  /** The full-text index and filing follow the rows after their commit; see `LateRows`. */
  readonly indexesLater?: boolean;
}

type Settle = () => void;

const EVERYBODY = { owner: undefined };

type Step = Parameters<typeof sweepHistory>[0];

/**
 * A replica in a file, or in memory. All writes run one after another: one process writes a
 * database at a time.
 */
export class ReplicaStore<Tables extends ReplicaTables> extends Replica<Tables> {
  #waiting: AskedWrite<Tables>[] = [];
  /** Whether the last commit was of a long write. */
  #wasLong = false;
  #draining: Promise<void> | undefined;
  protected committing: Promise<boolean> | undefined;
  #onIdle: (() => void) | undefined;
  readonly #lateRows: LateRows;

  constructor(protected override readonly options: StoreOptions<Tables>) {
    super(options);
    this.#lateRows = this.#createLateRows(options.world);
  }

  #createLateRows(world: World): LateRows {
    return new LateRows({
      reader: narrowTables(this.reader),
      world,
      indexSome: (owner) =>
        this.write(({ db }) => this.#indexSome(narrowTables(db), owner), { isLong: true }),
      fileSome: () => this.#fileSome(),
    });
  }

  /** True: more are to be filed. */
  #fileSome(): Promise<boolean> {
    return this.write(async ({ db }) => fileSome(narrowTables(db)), { isLong: true });
  }

  async #indexSome(db: Kysely<ReplicaTables>, owner: AccountId | undefined): Promise<void> {
    await indexSome(db, { owner }, this.#writePause);
  }

  get #writePause(): Pause {
    return this.options.pause ?? NO_PAUSE;
  }

  /** A connection for reading. It sees what is committed. */
  get reader(): Kysely<Tables> {
    return this.options.database.reader;
  }

  /** Changes whenever something was committed; see `SqliteDatabase.version`. */
  get version(): number | undefined {
    return this.options.database.version();
  }

  protected ask(write: AskedWrite<Tables>): void {
    this.#waiting.push(write);
    this.#draining ??= this.#drain();
  }

  /**
   * Runs a search of an owner's memories. The full-text index then has all that was committed
   * before. Not to be called within a write, which would wait for itself.
   */
  search<Found>(owner: AccountId, search: () => Promise<Found>): Promise<Found> {
    return this.#lateRows.search(owner, search);
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
      // What is looked at by age, and packed, are filed revisions.
      while (await this.#fileSome());
      await sweepHistory(step);
    } finally {
      await this.#sweepRest(step);
    }
  }

  async #sweepRest(step: Step): Promise<void> {
    for (let at = 0; at < MERGES_PER_SWEEP_MAX; at++) {
      if (!(await step((db) => mergeFullText(db, at === 0)))) break;
    }
    for (const sweeper of this.sweepers) {
      while (await this.write(({ db, now }) => sweeper(db, now)));
    }
    const large = await documentsWithLargeLogs(narrowTables(this.reader));
    for (const address of large) await this.write((context) => context.compact(address));
    await returnFreePages(this.options.database.writer);
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
    for (const key of [...this.openDocuments.keys()].slice(0, -1)) this.openDocuments.delete(key);
    this.options.database.rest();
  }

  /** Waits for all requested writes, then closes the database. */
  async close(): Promise<void> {
    await this.longWrites.allDone();
    await this.settle();
    await this.#lateRows.stop();
    while (this.#draining) await this.#draining;
    await this.options.database.close();
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (!(await this.#commitNext())) continue;
      await this.#ready();
      // A write that has waited for the long commit is committed before the log is written back.
      if (this.#waiting.some(({ isLong }) => !isLong)) await this.#commitNext();
      await writeLogBack(this.options.database.writer);
    }
    this.#draining = undefined;
    this.#onIdle?.();
  }

  /** Resolves when everything has run that is ready to. */
  #ready(): Promise<void> {
    return new Promise((resolve) => this.options.world.defer(resolve));
  }

  /** Commits the next writes. True: the log has to be written back. */
  #commitNext(): Promise<boolean> {
    this.committing = this.#ready().then(() => this.#commit(this.#takeNext()));
    return this.committing;
  }

  /**
   * A long write has a commit of its own, after those that came before it. Of several that wait the
   * others come between, however late they came: nobody waits for two long ones.
   */
  #takeNext(): readonly AskedWrite<Tables>[] {
    const others = this.#waiting.filter(({ isLong }) => !isLong);
    const isLongNext = this.#waiting[0]?.isLong === true && (!this.#wasLong || others.length === 0);
    const taken = isLongNext ? this.#waiting.slice(0, 1) : others.slice(0, WRITES_PER_COMMIT_MAX);
    const chosen = new Set(taken);
    this.#waiting = this.#waiting.filter((each) => !chosen.has(each));
    this.#wasLong = isLongNext;
    return taken;
  }

  async #commit(writes: readonly AskedWrite<Tables>[]): Promise<boolean> {
    const { pause } = this.options;
    let isLong = false;
    const contexts: Context<Tables>[] = [];
    const settle: Settle[] = [];
    const startedAt = this.options.world.monotonic();
    try {
      const transaction = writeTransaction(this.options.database.writer, async (db) => {
        for (const write of writes) {
          const { options, writers, openDocuments } = this;
          const context = new Context(options, { writers, openDocuments }, { db });
          contexts.push(context);
          settle.push(await runOne(write, context, { db, writesInCommit: writes.length }));
        }
        const replica: Kysely<ReplicaTables> = narrowTables(db);
        if (!this.options.indexesLater && contexts.some((context) => context.mayHaveWritten)) {
          fileAll(replica);
          while (await indexSome(replica, EVERYBODY, this.#writePause));
        }
        isLong = pause !== undefined && isLongCommit(contexts.flatMap(({ rows }) => rows));
        if (pause && isLong) await lightenCommit(replica, pause);
      });
      // All other writes wait for it.
      await comeFirst(this.options.world, transaction);
    } catch (thrown) {
      this.timed(startedAt, false);
      for (const context of contexts) context.discard();
      for (const write of writes) write.reject(thrown);
      return isLong;
    }
    this.timed(startedAt, true);
    if (this.options.indexesLater) this.#lateRows.follow();
    this.announce(contexts.flatMap((context) => context.rows));
    for (const each of settle) each();
    this.forgetOldest();
    return isLong;
  }
}

/**
 * Runs one write of a commit. Resolves to the outcome of its promise, to be settled after the
 * commit.
 */
async function runOne<Tables extends ReplicaTables>(
  write: AskedWrite<Tables>,
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
