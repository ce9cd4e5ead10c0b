import type { AccountId } from "../../ids.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { AskedWrite } from "../store/replica.ts";

/** A write, and what is known of how to do it. */
export interface QueuedWrite<Tables extends ReplicaTables> {
  readonly write: AskedWrite<Tables>;
  readonly owners: readonly AccountId[];
  /**
   * The write runs by itself: it failed in company, or another server holds its account just now.
   */
  readonly isAlone: boolean;
}

/** A transaction holds at most this many accounts, and does at most this many of their writes. */
const OWNERS_MAX = 64;
const WRITES_MAX = 256;

/**
 * The writes that wait, in order. Those of one account run one after another; those of others
 * overtake them. What is taken together shares a transaction.
 */
export class WriteQueue<Tables extends ReplicaTables> {
  #waiting: QueuedWrite<Tables>[] = [];
  readonly #busy = new Set<AccountId>();

  get size(): number {
    return this.#waiting.length;
  }

  add(write: AskedWrite<Tables>): void {
    this.#waiting.push({ write, owners: ownersOf(write), isAlone: write.isLong });
  }

  /** Puts writes back before all others of their accounts. */
  putBack(writes: readonly QueuedWrite<Tables>[]): void {
    this.#waiting.unshift(...writes);
  }

  /** Takes all writes that wait, to refuse them. */
  clear(): readonly QueuedWrite<Tables>[] {
    return this.#waiting.splice(0);
  }

  /** Takes the writes that can run together now; `done` has to follow. */
  take(): readonly QueuedWrite<Tables>[] {
    const taken: QueuedWrite<Tables>[] = [];
    const left: QueuedWrite<Tables>[] = [];
    const held = new Set<AccountId>();
    const before = new Set<AccountId>();
    for (const queued of this.#waiting) {
      const { owners, isAlone } = queued;
      const isFree = owners.every((owner) => !this.#busy.has(owner) && !before.has(owner));
      const further = owners.filter((owner) => !held.has(owner)).length;
      const hasRoom =
        taken.length === 0 || (taken.length < WRITES_MAX && held.size + further <= OWNERS_MAX);
      const hasCompany = taken.length > 0 && (isAlone || taken[0]?.isAlone);
      if (isFree && hasRoom && !hasCompany) {
        taken.push(queued);
        for (const owner of owners) held.add(owner);
      } else {
        left.push(queued);
        for (const owner of owners) before.add(owner);
      }
    }
    this.#waiting = left;
    for (const owner of held) this.#busy.add(owner);
    return taken;
  }

  /** Lets other writes of these accounts run. */
  done(writes: readonly QueuedWrite<Tables>[]): void {
    for (const { owners } of writes) for (const owner of owners) this.#busy.delete(owner);
  }

  isBusy(owner: AccountId): boolean {
    return this.#busy.has(owner);
  }
}

function ownersOf<Tables extends ReplicaTables>({
  owner,
}: AskedWrite<Tables>): readonly AccountId[] {
  if (owner === undefined) return [];
  return typeof owner === "string" ? [owner] : owner;
}
