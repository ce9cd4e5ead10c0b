import type { AccountId } from "../../shared/ids.ts";
import { chunksOf } from "../../shared/turns.ts";
import type { Timer, World } from "../../shared/world.ts";
import { countSync, type SyncCount } from "../stores/project-store.ts";
import type { ServiceStore } from "./service-store.ts";

/** Marks are written this long after the first of them. A crash may lose as much. */
const WRITE_AFTER_MS = 1000;

/**
 * How many owners one write may have. It waits until it has all of them, and their other writes
 * wait for it. If another server has one of them, only these few are late.
 */
const OWNERS_AT_ONCE = 8;

/** A sync of a document; `at` in milliseconds since the Unix epoch. */
interface Mark {
  readonly owner: AccountId;
  readonly documentId: number;
  readonly at: number;
}

type Pending = Map<number, SyncCount & { readonly owner: AccountId }>;

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
    store.onSettle((owner) => (this.#concerns(owner) ? this.#settle() : undefined));
  }

  add({ owner, documentId, at }: Mark): void {
    const count = (this.#pending.get(documentId)?.count ?? 0) + 1;
    this.#pending.set(documentId, { owner, count, at });
    this.#timer ??= this.world.setTimer(WRITE_AFTER_MS, () => {
      this.#timer = undefined;
      void this.#settle();
    });
  }

  #concerns(owner: AccountId | undefined): boolean {
    return [this.#pending, this.#written].some((marks) => {
      return [...marks.values()].some((mark) => owner === undefined || mark.owner === owner);
    });
  }

  /**
   * Resolves when all marks so far are on the disk. It never rejects: a disk that is full keeps
   * nobody from reading, and what could not be written waits for the next sync or reader.
   */
  #settle(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#pending.size === 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#written = this.#pending;
    this.#pending = new Map();
    await Promise.all(byOwners(this.#written).map((marks) => this.#writeSome(marks)));
    this.#written = new Map();
  }

  async #writeSome(marks: Pending): Promise<void> {
    const owner = ownersOf(marks);
    try {
      const count = async ({ db }: { readonly db: ServiceStore["reader"] }) => {
        for (const [documentId, mark] of marks) {
          await countSync(db, { documentId, count: mark.count, at: mark.at });
        }
      };
      await this.store.write(count, { owner });
    } catch {
      this.#pending = together(marks, this.#pending);
    }
  }
}

/** Marks in parts, each of so many owners that one write may have. */
function byOwners(marks: Pending): Pending[] {
  const parts = chunksOf(ownersOf(marks), OWNERS_AT_ONCE);
  if (parts.length === 1) return [marks];
  return parts.map((owners) => {
    const some = new Set(owners);
    return new Map([...marks].filter(([, { owner }]) => some.has(owner)));
  });
}

function ownersOf(marks: Pending): AccountId[] {
  return [...new Set([...marks.values()].map(({ owner }) => owner))];
}

function together(earlier: Pending, later: Pending): Pending {
  const all = new Map(earlier);
  for (const [documentId, mark] of later) {
    const count = mark.count + (earlier.get(documentId)?.count ?? 0);
    all.set(documentId, { ...mark, count });
  }
  return all;
}
