import type { AccountId } from "../../shared/ids.ts";
import { chunksOf } from "../../shared/turns.ts";
import type { Timer, World } from "../../shared/world.ts";
import { countSync, countSyncs, type SyncCount } from "../stores/project-store.ts";
import type { ServiceStore } from "./service-store.ts";

/** Marks are written this long after the first of them. A crash may lose as much. */
const WRITE_AFTER_MS = 1000;

/** One write counts those of so many documents. */
const DOCUMENTS_AT_ONCE = 256;

/** A sync of a document; `at` in milliseconds since the Unix epoch. */
interface Mark {
  readonly owner: AccountId;
  readonly documentId: number;
  readonly at: number;
}

/** The marks of a document together. */
interface Marks extends SyncCount {
  readonly owner: AccountId;
  /** Whether somebody else had the document's row when they were to be written. */
  readonly wasLate?: boolean | undefined;
}

type Pending = Map<number, Marks>;

/**
 * When documents were last synced, and how often. Kept in memory for up to a second and written
 * together, so that a call that brings nothing new commits nothing. Whoever reads those columns
 * settles the store before.
 *
 * ```
 * marks.add({ owner, documentId, at }); // once the sync is durable
 * await store.settle(owner); // from here on a reader sees it
 * ```
 */
export class SyncMarks {
  /** By document, whose id is never given to another one. */
  #pending: Pending = new Map();
  /** Being written, so perhaps not in the database yet. */
  #written: Pending = new Map();
  #writing: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;

  constructor(
    readonly store: ServiceStore,
    readonly world: World,
  ) {
    store.onSettle((owner) => (this.#concerns(owner) ? this.#settle("all") : undefined));
  }

  add({ owner, documentId, at }: Mark): void {
    const before = this.#pending.get(documentId);
    const count = (before?.count ?? 0) + 1;
    this.#pending.set(documentId, { owner, count, at, wasLate: before?.wasLate });
    this.#writeLater();
  }

  #writeLater(): void {
    this.#timer ??= this.world.setTimer(WRITE_AFTER_MS, () => {
      this.#timer = undefined;
      void this.#settle("free");
    });
  }

  #concerns(owner: AccountId | undefined): boolean {
    return [this.#pending, this.#written].some((marks) => {
      return [...marks.values()].some((mark) => owner === undefined || mark.owner === owner);
    });
  }

  /**
   * Resolves when all marks so far are on the disk, or those of rows that are free. It never
   * rejects: a disk that is full keeps nobody from reading, and what could not be written waits for
   * the next sync or reader.
   */
  #settle(which: "all" | "free"): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write(which));
    return this.#writing;
  }

  async #write(which: "all" | "free"): Promise<void> {
    if (this.#pending.size === 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#written = this.#pending;
    this.#pending = new Map();
    for (const some of chunksOf([...this.#written], DOCUMENTS_AT_ONCE)) {
      const late = [...(await this.#writeSome(new Map(some)))];
      // The second time they are waited for. A row that is gone is nobody's.
      const isWaitedFor = ({ wasLate }: Marks) => which === "all" || wasLate === true;
      const waiting = late.filter(([, marks]) => isWaitedFor(marks));
      await Promise.all(waiting.map((each) => this.#writeLate(...each)));
      this.#keep(late.filter(([, marks]) => !isWaitedFor(marks)));
    }
    this.#written = new Map();
  }

  /** They are written a little later. */
  #keep(late: readonly (readonly [number, Marks])[]): void {
    if (late.length === 0) return;
    const kept = new Map(late.map(([id, marks]) => [id, { ...marks, wasLate: true }] as const));
    this.#pending = together(kept, this.#pending);
    this.#writeLater();
  }

  /**
   * Columns of no replica, so no account is held for them: servers that have one account's machines
   * would keep each other from writing. Whoever writes waits for these rows, so their transaction
   * waits for nobody, and has nothing else in it. Resolves to what somebody else has just now.
   */
  async #writeSome(marks: Pending): Promise<Pending> {
    try {
      const counting = this.store.write(({ db }) => countSyncs(db, marks), { isLong: true });
      const counted = new Set(await counting);
      return new Map([...marks].filter(([documentId]) => !counted.has(documentId)));
    } catch {
      this.#pending = together(marks, this.#pending);
      return new Map();
    }
  }

  async #writeLate(documentId: number, marks: Marks): Promise<void> {
    const { owner, count, at } = marks;
    try {
      await this.store.write(({ db }) => countSync(db, { documentId, count, at }), { owner });
    } catch {
      this.#pending = together(new Map([[documentId, marks]]), this.#pending);
    }
  }
}

function together(earlier: Pending, later: Pending): Pending {
  const all = new Map(earlier);
  for (const [documentId, mark] of later) {
    const before = earlier.get(documentId);
    const count = mark.count + (before?.count ?? 0);
    all.set(documentId, { ...mark, count, wasLate: before?.wasLate });
  }
  return all;
}
