import type { Kysely } from "kysely";
import type { AccountId } from "../../ids.ts";
import type { PostgresDatabase } from "../../postgres/database.ts";
import {
  DatabaseFailure,
  isConnectionLost,
  isConsequence,
  tooBusy,
  UnknownOutcome,
} from "../../postgres/failures.ts";
import type { PostgresSession } from "../../postgres/session.ts";
import { commit, rolledBack, triesFor } from "../../postgres/transaction.ts";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import { delay } from "../../world.ts";
import { sweepHistory } from "../history/sweep-history.ts";
import { documentsWithLargeLogs } from "../log/large-logs.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { OpenDocument } from "../store/open-document.ts";
import { type AskedWrite, Replica, type ReplicaSetup, type SearchFound } from "../store/replica.ts";
import { addressKey, Context } from "../store/write-context.ts";
import { newWriter } from "../store/writer.ts";
import { CommitFeed } from "./commit-feed.ts";
import { Hints } from "./hints.ts";
import { type Held, hold } from "./hold.ts";
import { currentEpoch } from "./incarnation.ts";
import { rewriteFormerWords } from "./rewrite-words.ts";
import { claimSweep, sweptAlone } from "./sweep-claims.ts";
import { type QueuedWrite, WriteQueue } from "./write-queue.ts";
import { writeRowsOnPostgres } from "./write-rows.ts";

/** Transactions of writes at the same time; one connection is left for limits and accounts. */
const BATCHES_MAX = 4;

/** This many of them may wait for an account that another server holds, so that others go on. */
const PATIENT_MAX = 2;

/** Accounts whose version is kept in memory, by about a hundred bytes each. */
const KNOWN_MAX = 10_000;

/** If more writes wait than this, the next one is refused. */
const WAITING_MAX = 4096;

/** A write whose account another server holds lets others go first for this long. */
const ASKED_AGAIN_MS = 10;

/** A search whose memories another search gives their words looks again after these pauses. */
const HELD_PAUSES_MS = [10, 20, 40, 80, 160];

/** What a replica on PostgreSQL needs. It closes the database with itself. */
export interface PostgresReplicaOptions<Tables extends ReplicaTables> extends ReplicaSetup<Tables> {
  readonly database: PostgresDatabase<Tables>;
  /** By whose clock entries are: the database's, which all of its servers share, or the world's. */
  readonly clock: "database" | "world";
}

/** What became of one write of a batch. */
interface Outcome<Tables extends ReplicaTables> {
  readonly queued: QueuedWrite<Tables>;
  readonly context: Context<Tables>;
  readonly wrote: boolean;
  readonly settle: () => void;
}

/** Thrown by a write that ends the transaction which others share. */
class Spoilt<Tables extends ReplicaTables> extends Error {
  constructor(
    readonly by: QueuedWrite<Tables>,
    override readonly cause: unknown,
  ) {
    super("a write has spoilt its transaction");
  }
}

/**
 * A replica on a PostgreSQL that any number of servers write. Whoever writes holds the row of the
 * account; its version says whether documents in memory are those in the database. Writes of many
 * accounts share a transaction, and may run twice: they have no effects outside of the store.
 *
 * ```
 * const replica = await PostgresReplica.open({ database, world, clock: "database", writer });
 * ```
 */
export class PostgresReplica<Tables extends ReplicaTables> extends Replica<Tables> {
  readonly version = undefined;
  protected readonly committing = undefined;
  readonly #queue = new WriteQueue<Tables>();
  /**
   * The version of its account at which documents in memory are right; the account written last
   * comes last.
   */
  readonly #known = new Map<AccountId, number>();
  #isBeginning = false;
  #running = 0;
  #patient = 0;
  #onIdle: (() => void) | undefined;

  readonly #feed: CommitFeed<Tables>;
  readonly #hints: Hints;

  #onAnew = () => {};

  private constructor(
    protected override readonly options: PostgresReplicaOptions<Tables>,
    epoch: string,
  ) {
    super(options);
    const { database, world } = options;
    database.writing.onHeldUp = () => this.#beginSoon();
    this.#feed = new CommitFeed({
      reading: database.reading,
      world,
      announce: (rows) => this.announce(rows),
      epoch,
      onAnew: () => this.#onAnew(),
    });
    this.#hints = new Hints({
      address: database.address,
      world,
      onHint: (owner) => this.#feed.hinted(owner),
      onGap: () => void this.#feed.lookAtAll(),
    });
  }

  static async open<Tables extends ReplicaTables>(
    options: PostgresReplicaOptions<Tables>,
  ): Promise<PostgresReplica<Tables>> {
    const epoch = await currentEpoch(options.database.writing, options.writer.epoch);
    const replica = new PostgresReplica({ ...options, writeRows: writeRowsOnPostgres }, epoch);
    replica.writers.beginAs(epoch);
    await replica.#hints.start();
    return replica;
  }

  /** Calls back where the database is another than before: whoever listens has to begin again. */
  onAnew(callback: () => void): void {
    this.#onAnew = callback;
  }

  override follow(owner: AccountId): () => void {
    return this.#feed.follow(owner);
  }

  override following(owner: AccountId): Promise<void> | undefined {
    return this.#feed.following(owner);
  }

  get reader() {
    return this.options.database.reader;
  }

  /**
   * Each row has its own words, so a search waits for nobody and keeps nobody waiting. Where any
   * are those of a server of a former release, the owner's get their present words, and are
   * searched again.
   */
  async search<Found extends SearchFound>(
    owner: AccountId,
    search: () => Promise<Found>,
  ): Promise<Found> {
    const found = await search();
    if (found.hasFormerWords !== true) return found;
    const { database, world } = this.options;
    // A database that can't be written now is searched as it is.
    const areHeld = () => rewriteFormerWords(database.writing, owner).catch(() => false);
    // Another search that gives a memory its words is over soon; for a longer write nobody waits.
    for (const pause of HELD_PAUSES_MS) {
      if (!(await areHeld())) break;
      await delay(world, pause);
    }
    return await search();
  }

  async sweep(): Promise<void> {
    if (!(await claimSweep(this.options.database.writing))) return;
    const step = <Result>(work: (db: Kysely<Tables>, now: number) => Promise<Result>) =>
      this.write(({ db, now }) => sweptAlone(db, () => work(db, now)), { isLong: true });
    try {
      await rewriteFormerWords(this.options.database.writing);
      await sweepHistory((work) => step((db, now) => work(narrowTables(db), now)));
    } finally {
      for (const sweeper of this.sweepers) while (await step(sweeper));
      for (const address of await documentsWithLargeLogs(narrowTables(this.reader))) {
        await this.write((context) => context.compact(address), { owner: address.owner });
      }
    }
  }

  async close(): Promise<void> {
    await this.longWrites.allDone();
    await this.settle();
    while (this.#queue.size > 0 || this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.#feed.stop();
    await this.#hints.stop();
    await this.options.database.close();
  }

  protected ask(write: AskedWrite<Tables>): void {
    if (this.#queue.size >= WAITING_MAX) {
      write.reject(tooBusy());
      return;
    }
    this.#queue.add(write);
    this.#beginSoon();
  }

  /** Writes that are ready by then share a transaction. */
  #beginSoon(): void {
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    this.options.world.defer(() => {
      this.#isBeginning = false;
      this.#begin();
    });
  }

  #begin(): void {
    const { isHeldUp, placesKept } = this.options.database.writing;
    const batchesMax = isHeldUp ? 0 : Math.max(0, BATCHES_MAX - placesKept);
    // The last connection is for what waits for no disk, such as the charge of a read.
    if (batchesMax === 0) for (const { write } of this.#queue.clear()) write.reject(tooBusy());
    while (this.#running < batchesMax) {
      const batch = this.#queue.take();
      if (batch.length === 0) break;
      this.#running += 1;
      void this.#run(batch).finally(() => {
        this.#running -= 1;
        this.#queue.done(batch);
        this.#beginSoon();
      });
    }
    if (this.#queue.size === 0 && this.#running === 0) this.#onIdle?.();
  }

  /** Never rejects. */
  async #run(batch: readonly QueuedWrite<Tables>[]): Promise<void> {
    const { writing } = this.options.database;
    for (let tries = 1, dead = 0; ; tries += 1) {
      try {
        await this.#try(batch, dead);
        return;
      } catch (thrown) {
        if (thrown instanceof Spoilt && batch.length > 1) {
          this.#queue.putBack(batch.map((each) => (each === thrown.by ? byItself(each) : each)));
          return;
        }
        const reason = thrown instanceof Spoilt ? thrown.cause : thrown;
        if (isConnectionLost(reason)) dead = writing.made;
        if (tries < triesFor(reason)) continue;
        if (reason instanceof UnknownOutcome) this.#distrust(batch);
        for (const { write } of batch) write.reject(reason);
        return;
      }
    }
  }

  /** `dead`: see the pool's `take`. */
  async #try(batch: readonly QueuedWrite<Tables>[], dead: number): Promise<void> {
    const { writing } = this.options.database;
    const startedAt = this.options.world.monotonic();
    const session = await writing.take(dead);
    let isBroken = true;
    let outcomes: readonly Outcome<Tables>[] = [];
    try {
      const mayWait = batch.length === 1 && batch[0]?.isAlone === true;
      const held = await this.#hold(session, batch, mayWait);
      const free = batch.filter(({ owners }) => owners.every((owner) => held.versions.has(owner)));
      outcomes = await this.#runEach(session, free, held);
      await this.#commit(session, outcomes);
      isBroken = false;
      this.#queue.putBack(batch.filter((each) => !free.includes(each)).map(byItself));
    } catch (thrown) {
      isBroken = !(await rolledBack(session));
      this.timed(startedAt, false);
      throw thrown;
    } finally {
      writing.give(session, isBroken);
    }
    this.timed(startedAt, true);
    this.#finish(outcomes);
    // A write that may not wait for its account asks again, after a pause.
    if (outcomes.length === 0) await delay(this.options.world, ASKED_AGAIN_MS);
  }

  async #hold(
    session: PostgresSession<Tables>,
    batch: readonly QueuedWrite<Tables>[],
    mayWait: boolean,
  ): Promise<Held> {
    const owners = [...new Set(batch.flatMap((each) => each.owners))].sort();
    const unknown = owners.filter((owner) => !this.#known.has(owner));
    const isPatient = mayWait && this.#patient < PATIENT_MAX;
    if (isPatient) this.#patient += 1;
    try {
      const held = await hold(session, { owners, unknown, waits: isPatient });
      if (held.problem !== undefined) throw new DatabaseFailure(held.problem);
      if (!held.isSame || held.epoch !== this.writer.epoch) await this.#beginAnew(held);
      for (const [owner, version] of held.versions) this.#renew(owner, version);
      // If a write has waited for an account and not got it, the account's row is gone.
      if (isPatient) for (const owner of owners) if (!held.versions.has(owner)) this.#forget(owner);
      return held;
    } finally {
      if (isPatient) this.#patient -= 1;
    }
  }

  /** The database is another than before: what was acknowledged may be missing from it. */
  async #beginAnew({ isSame, epoch }: Held): Promise<void> {
    const { database, world } = this.options;
    const current = isSame ? epoch : await currentEpoch(database.reading, newWriter(world).epoch);
    if (current === this.writer.epoch) return;
    this.openDocuments.clear();
    this.#known.clear();
    this.writers.beginAs(current);
    this.#feed.beginAs(current);
  }

  /**
   * Marks documents that another server has written since. What they lack is read when it is
   * needed.
   */
  #renew(owner: AccountId, version: number): void {
    if (this.#known.get(owner) !== version) {
      for (const open of this.#openOf(owner)) open.fallBehind();
    }
    this.#known.delete(owner);
    this.#known.set(owner, version);
  }

  #forgetQuietest(): void {
    for (const owner of this.#known.keys()) {
      if (this.#known.size <= KNOWN_MAX) return;
      if (!this.#queue.isBusy(owner)) this.#forget(owner);
    }
  }

  #forget(owner: AccountId): void {
    this.#known.delete(owner);
    for (const { address } of this.#openOf(owner)) this.openDocuments.delete(addressKey(address));
  }

  #openOf(owner: AccountId): OpenDocument[] {
    return [...this.openDocuments.values()].filter(({ address }) => address.owner === owner);
  }

  /** A document in a transaction stays in memory, or it would be loaded a second time. */
  protected override isInUse({ address }: OpenDocument): boolean {
    return this.#queue.isBusy(address.owner);
  }

  /**
   * Forgets the documents of writes whose outcome is unknown. Later writes have other client ids.
   */
  #distrust(batch: readonly QueuedWrite<Tables>[]): void {
    for (const { owners } of batch) for (const owner of owners) this.#forget(owner);
    this.writers.renew();
  }

  /** Writes of one account one after another, and those of others at the same time. */
  async #runEach(
    session: PostgresSession<Tables>,
    batch: readonly QueuedWrite<Tables>[],
    held: Held,
  ): Promise<readonly Outcome<Tables>[]> {
    const last = new Map<AccountId, Promise<unknown>>();
    const running = batch.map((queued) => {
      const before = queued.owners.flatMap((owner) => last.get(owner) ?? []);
      const run = Promise.all(before).then(() => this.#runOne(session.view(), queued, held));
      for (const owner of queued.owners) last.set(owner, run);
      return run;
    });
    const ends = await Promise.allSettled(running);
    const outcomes = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    const failures = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
    if (failures.length === 0) return outcomes;
    for (const { context } of outcomes) context.discard();
    throw failures.find(({ cause }) => !isConsequence(cause)) ?? failures[0];
  }

  async #runOne(
    session: PostgresSession<Tables>,
    queued: QueuedWrite<Tables>,
    { now }: Held,
  ): Promise<Outcome<Tables>> {
    const { write, owners } = queued;
    const { options, writers, openDocuments } = this;
    const shared = { writers, openDocuments };
    const context = new Context<Tables>(options, shared, {
      db: session.db,
      now: options.clock === "database" ? now : undefined,
      ownersLocked: new Set(owners),
    });
    try {
      const result = await write.run(context);
      await context.flushAll();
      return { queued, context, wrote: session.wrote, settle: () => write.resolve(result) };
    } catch (thrown) {
      context.discard();
      // A write that has written nothing needs no rollback, which would undo the others', too.
      if (session.wrote || session.failed) throw new Spoilt(queued, thrown);
      return { queued, context, wrote: false, settle: () => write.reject(thrown) };
    }
  }

  async #commit(
    session: PostgresSession<Tables>,
    outcomes: readonly Outcome<Tables>[],
  ): Promise<void> {
    try {
      const written = changedOwners(outcomes);
      const bumping =
        written.length > 0 &&
        session.change("UPDATE owners SET version = version + 1 WHERE owner = ANY($1::text[])", [
          written,
        ]);
      // A transaction that only took locks would wait for the disk, too.
      const easing =
        !outcomes.some(({ wrote }) => wrote) &&
        session.command("SET LOCAL synchronous_commit = off");
      const outcome = await Promise.allSettled([commit(session), bumping, easing]);
      // The outcome of the commit counts, because with a lost connection each answer is lost.
      for (const each of outcome) if (each.status === "rejected") throw each.reason;
    } catch (thrown) {
      for (const { context } of outcomes) context.discard();
      throw thrown;
    }
  }

  #finish(outcomes: readonly Outcome<Tables>[]): void {
    const versions = new Map<AccountId, number>();
    for (const owner of changedOwners(outcomes)) {
      versions.set(owner, (this.#known.get(owner) ?? 0) + 1);
    }
    for (const [owner, version] of versions) this.#known.set(owner, version);
    const rows = outcomes.flatMap(({ context }) => context.rows);
    this.#feed.committed(rows, versions);
    this.#hints.send(rows.map(({ address }) => address.owner));
    for (const { settle } of outcomes) settle();
    this.#forgetQuietest();
    this.forgetOldest();
  }
}

function byItself<Tables extends ReplicaTables>(queued: QueuedWrite<Tables>): QueuedWrite<Tables> {
  return { ...queued, isAlone: true };
}

/** The owners of documents that have other contents now. */
function changedOwners<Tables extends ReplicaTables>(
  outcomes: readonly Outcome<Tables>[],
): AccountId[] {
  const rows = outcomes.flatMap(({ context }) => context.rows);
  return [...new Set(rows.map(({ address }) => address.owner))];
}
