import type { Kysely } from "kysely";
import type { AccountId } from "../../ids.ts";
import { narrowTables } from "../../sqlite/narrow-tables.ts";
import { NO_PAUSE, type Pause, Queues } from "../../turns.ts";
import type { DocumentAddress } from "../document/address.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { CommittedRow, OpenDocument, Writer } from "./open-document.ts";
import {
  addressKey,
  type Context,
  type ContextOptions,
  type Draft,
  type WriteContext,
  Writers,
} from "./write-context.ts";

/** Documents kept in memory between writes. */
const OPEN_DOCUMENTS_MAX = 512;
const OPEN_BYTES_MAX = 64 * 1024 * 1024;

/** How a write is done. */
export interface WriteTerms {
  /** The write gets a commit of its own, because others would have to wait for it. */
  readonly isLong?: boolean;
  /**
   * Whose documents the write may open. On PostgreSQL nobody else writes these meanwhile, and no
   * others can be opened; on SQLite writes run one after another anyway.
   */
  readonly owner?: AccountId | readonly AccountId[];
}

/** A write that waits for its commit. */
export interface AskedWrite<Tables extends ReplicaTables> {
  readonly run: (context: Context<Tables>) => Promise<unknown>;
  /** Called in the turn of the commit, as `reject`. */
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  /** See `WriteTerms`. */
  readonly isLong: boolean;
  readonly owner: WriteTerms["owner"] | undefined;
}

/** What a search has found, and whether memories may have words that it does not know. */
export interface SearchFound {
  /** Of a PostgreSQL, where a server of a former release has written some; of any account. */
  readonly hasFormerWords?: boolean;
}

/** What is done to a document before its write; see `Replica.draft`. */
export interface Edit<Result> {
  readonly address: DocumentAddress;
  /** Whether the edit is made even if there is no such document yet. */
  readonly create: boolean;
  readonly edit: (
    open: OpenDocument,
    turns: { readonly now: number; readonly pause: Pause },
  ) => Promise<Result>;
}

/**
 * Writes what is kept in memory for one owner, or for all; undefined if there is nothing. Never
 * rejects.
 */
type Settler = (owner: AccountId | undefined) => Promise<void> | undefined;

/** One step of a sweep. True: more is to be done. */
export type SweepStep<Tables> = (db: Kysely<Tables>, now: number) => Promise<boolean>;

/** What every replica needs, on whatever database. */
export interface ReplicaSetup<Tables extends ReplicaTables> extends ContextOptions<Tables> {
  readonly writer: Writer;
  /** The pause of long work beside the writes; `pause` when left out. */
  readonly patientPause?: Pause | undefined;
}

/**
 * The durable replica: documents with their logs and derived rows in one database. Writes of an
 * owner run one after another. Those that wait together share a commit, and each promise settles
 * only after it: a resolved write is on the disk. `ReplicaStore` keeps it in a file, and
 * `PostgresReplica` on a server that others write, too.
 *
 * ```
 * await store.write(async (context) => {
 *   const { document } = await context.open(projectDocument(account, project));
 *   document.setEntry("memories", "editor", { value: "vim", now: context.now });
 * }, { owner: account });
 * ```
 */
export abstract class Replica<Tables extends ReplicaTables> {
  /** A connection for reading. It sees what is committed. */
  abstract readonly reader: Kysely<Tables>;
  /**
   * Changes whenever something was committed; see `SqliteDatabase.version`. Undefined where nobody
   * can tell without a query.
   */
  abstract readonly version: number | undefined;
  /** By `addressKey`; the one that was unused for longest comes first. */
  protected readonly openDocuments = new Map<string, OpenDocument>();
  protected readonly writers: Writers;
  protected readonly sweepers: SweepStep<Tables>[] = [];
  readonly #listeners = new Set<(rows: readonly CommittedRow[]) => void>();
  /**
   * Long writes, which are edited before they are asked for: those of one owner run one after
   * another.
   */
  readonly longWrites = new Queues<AccountId>();
  readonly #settlers: Settler[] = [];
  #onTimed: ((durationMs: number, kept: boolean) => void) | undefined;

  constructor(protected readonly options: ReplicaSetup<Tables>) {
    this.writers = new Writers(options.writer, options.world);
  }

  /** Gets a write done: soon, alone or together with others. */
  protected abstract ask(write: AskedWrite<Tables>): void;

  /** The commit that is under way; undefined if none keeps a long edit waiting. */
  protected abstract readonly committing: Promise<unknown> | undefined;

  /**
   * Runs a search of an owner's memories, which finds all that was committed before. Not to be
   * called within a write, which would wait for itself.
   */
  abstract search<Found extends SearchFound>(
    owner: AccountId,
    search: () => Promise<Found>,
  ): Promise<Found>;

  /**
   * Deletes old revisions and packs others, shortens large logs, and returns free space; all in
   * small steps, between which other writes go on. For quiet times. Throws `CorruptDocumentError`
   * at the end if a history is damaged.
   */
  abstract sweep(): Promise<void>;

  /** Waits for all requested writes, then closes the database. */
  abstract close(): Promise<void>;

  /**
   * Somebody listens to an owner's commits from now on. Returns a function that ends this. If other
   * processes write the database, too, their commits are looked for only while somebody listens.
   */
  follow(_: AccountId): () => void {
    return () => {};
  }

  /** Resolves when no commit of a followed owner is missed that comes after this. */
  following(_: AccountId): Promise<void> | undefined {
    return undefined;
  }

  get writer(): Writer {
    return this.writers.current;
  }

  /** To be called between the steps of long work that is no write. */
  get pause(): Pause {
    return this.options.patientPause ?? this.options.pause ?? NO_PAUSE;
  }

  /**
   * Runs `work` in a write transaction. If it throws, all its changes are undone and the promise
   * rejects with its error. Other writes of the same commit are not affected.
   */
  write<Result>(
    work: (context: WriteContext<Tables>) => Promise<Result>,
    { isLong = false, owner }: WriteTerms = {},
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      // It is called with what `work` gives, which is a `Result`.
      const settle = resolve as (value: unknown) => void;
      this.ask({ run: work, resolve: settle, reject, isLong, owner });
    });
  }

  /**
   * Edits a document before its write, so that no other write waits for long work: the write then
   * only has to write rows. Nobody sees the edit until `WriteContext.adopt`, and it is dropped if
   * somebody else writes to the document meanwhile. Undefined if the edit throws, or if there is no
   * document and `create` is not given: then the write has to do all of it, and reports what is
   * wrong.
   */
  async draft<Result>({ address, create, edit }: Edit<Result>): Promise<Draft<Result> | undefined> {
    const taken = await this.#takeOut(address, create);
    if (!taken) return undefined;
    const { open, baseSeq, now } = taken;
    // Writes that wait for a commit come before the edit.
    const pause = () =>
      this.pause()
        ?.then(() => this.committing)
        .then(() => this.pause());
    try {
      const result = await edit(open, { now, pause });
      await open.prepare(narrowTables(this.reader), now, pause);
      return { open, baseSeq, now, result };
    } catch {
      return undefined;
    }
  }

  /**
   * The document as the last commit left it, and the time of that commit. On PostgreSQL that is the
   * database's time, as for every write. Others no longer get this copy of the document from
   * memory.
   */
  #takeOut(
    address: DocumentAddress,
    create: boolean,
  ): Promise<Omit<Draft<unknown>, "result"> | undefined> {
    const key = addressKey(address);
    return new Promise((resolve, reject) => {
      let empty: OpenDocument | undefined;
      let now = 0;
      const run = async (context: Context<Tables>) => {
        now = context.now;
        const found = await context.find(address);
        if (!found && create) empty = await context.reserve(address);
      };
      const takeOut = () => {
        const open = this.openDocuments.get(key);
        this.openDocuments.delete(key);
        if (open) resolve({ open, baseSeq: open.head.seq, now });
        else resolve(empty && { open: empty, baseSeq: undefined, now });
      };
      this.ask({ run, resolve: takeOut, reject, isLong: false, owner: address.owner });
    });
  }

  /** Calls back with the rows of each commit, in order. Returns a function that ends this. */
  onCommit(listener: (rows: readonly CommittedRow[]) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Adds a step to each sweep, which repeats `sweeper` until nothing is left for it to do. */
  onSweep(sweeper: SweepStep<Tables>): void {
    this.sweepers.push(sweeper);
  }

  /** `settler` writes what is kept in memory for a while; see `settle`. */
  onSettle(settler: Settler): void {
    this.#settlers.push(settler);
  }

  /**
   * Resolves when everything that was kept in memory to be written together, of an owner or of all,
   * is in the database, as far as it can be written. Not to be called within a write, which would
   * wait for itself.
   */
  async settle(owner?: AccountId): Promise<void> {
    for (const settler of this.#settlers) await settler(owner);
  }

  /** Calls back after each commit: how long it took, and whether it succeeded. */
  timeCommits(onTimed: (durationMs: number, kept: boolean) => void): void {
    this.#onTimed = onTimed;
  }

  /** The documents kept in memory between writes, and how many bytes those took encoded. */
  get inMemory(): { readonly documents: number; readonly bytes: number } {
    let bytes = 0;
    for (const document of this.openDocuments.values()) bytes += document.bytes;
    return { documents: this.openDocuments.size, bytes };
  }

  protected timed(startedAt: number, kept: boolean): void {
    this.#onTimed?.(this.options.world.monotonic() - startedAt, kept);
  }

  /** A listener's error is a bug, but not the writes': it is thrown separately. */
  protected announce(rows: readonly CommittedRow[]): void {
    if (rows.length === 0) return;
    for (const listener of this.#listeners) {
      try {
        listener(rows);
      } catch (thrown) {
        this.options.world.defer(() => {
          throw thrown;
        });
      }
    }
  }

  /** Whether a write is using the document just now. */
  protected isInUse(_: OpenDocument): boolean {
    return false;
  }

  protected forgetOldest(): void {
    let { bytes } = this.inMemory;
    for (const [key, document] of this.openDocuments) {
      if (this.openDocuments.size <= OPEN_DOCUMENTS_MAX && bytes <= OPEN_BYTES_MAX) return;
      if (this.isInUse(document)) continue;
      bytes -= document.bytes;
      this.openDocuments.delete(key);
    }
  }
}
