import type { AccountId } from "../../shared/ids.ts";

/** What is read takes several times its size in memory until it is sent. */
const AT_ONCE_MAX = 2;

type Begin = () => void;

/**
 * Lets few long lists be read at the same time, and one of an account: others wait, and take no
 * memory meanwhile. Accounts that wait take turns, however much each of them asks for.
 *
 * ```
 * const rows = await reads.run(account, () => listAllMemories(db, filter, { pause }));
 * ```
 */
export class LongReads {
  readonly #reading = new Set<AccountId>();
  /** The account whose turn is next comes first. */
  readonly #waiting = new Map<AccountId, Begin[]>();

  /** Runs `read` when it is its turn. */
  async run<Result>(account: AccountId, read: () => Promise<Result>): Promise<Result> {
    if (this.#mayBegin(account)) this.#reading.add(account);
    else await this.#turnOf(account);
    try {
      return await read();
    } finally {
      this.#reading.delete(account);
      this.#beginNext();
    }
  }

  #mayBegin(account: AccountId): boolean {
    return this.#reading.size < AT_ONCE_MAX && !this.#reading.has(account);
  }

  #turnOf(account: AccountId): Promise<void> {
    return new Promise((begin) => {
      const before = this.#waiting.get(account) ?? [];
      this.#waiting.set(account, [...before, begin]);
    });
  }

  #beginNext(): void {
    for (const [account, [begin, ...others]] of this.#waiting) {
      if (!begin || !this.#mayBegin(account)) continue;
      this.#waiting.delete(account);
      if (others.length > 0) this.#waiting.set(account, others);
      this.#reading.add(account);
      begin();
      return;
    }
  }
}
