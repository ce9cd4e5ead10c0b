import type { AccountId } from "../../../shared/ids.ts";
import type { World } from "../../../shared/world.ts";
import type { RequestEntry } from "./journal.ts";

/** At most this many waits are remembered; a client that was told to wait comes back soon. */
const WAITS_MAX = 10_000;

interface Wait {
  readonly until: number;
  /** The same in real time, which goes on where the emulator's clock stands still. */
  readonly untilReally: number;
  readonly account: AccountId | undefined;
}

/** Who was told to wait, and until when. */
export class RetryWaits {
  readonly #waits = new Map<string, Wait>();

  /** `world` has the emulator's clock. */
  constructor(
    readonly world: Pick<World, "now">,
    readonly real: Pick<World, "monotonic">,
  ) {}

  /** Says in one line what is wrong with coming now; undefined if nothing is. */
  came(entry: RequestEntry): string | undefined {
    const now = this.world.now();
    for (const key of [accountKey(entry), placeKey(entry)]) {
      const wait = this.#waits.get(key);
      this.#waits.delete(key);
      if (wait === undefined || wait.until <= now) continue;
      // A client that waits by its own timer has done as it was told.
      if (wait.untilReally <= this.real.monotonic()) continue;
      const seconds = Math.ceil((wait.until - now) / 1000);
      return `came back ${seconds} s before Retry-After was over`;
    }
    return undefined;
  }

  /** A 429 is about everything of a token, another wait about what was asked. */
  answered(entry: RequestEntry): void {
    const waitMs = this.#waitMs(entry.retryAfter);
    if (waitMs === undefined) return;
    if (this.#waits.size >= WAITS_MAX) this.#waits.clear();
    const key = entry.status === 429 ? accountKey(entry) : placeKey(entry);
    this.#waits.set(key, {
      until: this.world.now() + waitMs,
      untilReally: this.real.monotonic() + waitMs,
      account: entry.account,
    });
  }

  /** Of an account, or of all. */
  forget(account: AccountId | undefined): void {
    for (const [key, wait] of this.#waits) {
      if (account === undefined || wait.account === account) this.#waits.delete(key);
    }
  }

  #waitMs(retryAfter: string | null): number | undefined {
    if (retryAfter === null) return undefined;
    if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
    const at = Date.parse(retryAfter);
    return Number.isNaN(at) ? undefined : at - this.world.now();
  }
}

function accountKey({ token = "" }: RequestEntry): string {
  return token;
}

function placeKey({ token = "", method, path }: RequestEntry): string {
  return `${token}\n${method}\n${path}`;
}
