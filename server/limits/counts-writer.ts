import { messageOf } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { Timer, World } from "../../shared/world.ts";
import { dayOf, type Usage, type UsageRecord } from "./usage.ts";

/** Counts are stored this long after a change. A crash may lose as much. */
const WRITE_AFTER_MS = 1000;

/** Stores the counts of accounts across restarts. */
export interface CountsStore {
  find(account: AccountId): Promise<UsageRecord | undefined>;
  /** One transaction, which also drops accounts without a request since `oldestDay`. */
  write(counts: ReadonlyMap<AccountId, UsageRecord>, oldestDay: number): Promise<void>;
}

/** Stores changed counts in the background. No request waits for it. */
export class CountsWriter {
  #changed = new Map<AccountId, Usage>();
  /** Being written, so perhaps not stored yet. */
  #written: ReadonlyMap<AccountId, Usage> = new Map();
  #writing: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;

  constructor(
    readonly store: CountsStore,
    readonly world: World,
    readonly log: Log,
  ) {}

  /** This account's counts have to be stored within about a second. */
  changed(account: AccountId, usage: Usage): void {
    this.#changed.set(account, usage);
    this.#timer ??= this.world.setTimer(WRITE_AFTER_MS, () => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    });
  }

  /** Whether the store has the latest counts of an account. */
  holds(account: AccountId): boolean {
    return !this.#changed.has(account) && !this.#written.has(account);
  }

  /** Resolves when everything is stored, or could not be. */
  async close(): Promise<void> {
    this.#stopTimer();
    await this.#writing;
    await this.#write();
    this.#stopTimer();
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Never rejects. What could not be stored is tried again. */
  async #write(): Promise<void> {
    if (this.#changed.size === 0) return;
    const written = this.#changed;
    this.#written = written;
    this.#changed = new Map();
    const counts = new Map([...written].map(([account, usage]) => [account, usage.record()]));
    try {
      // Yesterday's may still count, because the clock may be set back by that much.
      await this.store.write(counts, dayOf(this.world.now()) - 1);
      this.#written = new Map();
    } catch (thrown) {
      this.log.warn({ reason: messageOf(thrown) }, "the counts of requests were not written");
      this.#written = new Map();
      for (const [account, usage] of written) this.changed(account, usage);
    }
  }
}
