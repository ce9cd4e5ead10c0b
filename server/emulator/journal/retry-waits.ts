import type { World } from "../../../shared/world.ts";
import type { RequestEntry } from "./journal.ts";

/** So many waits are remembered; a client that was told to wait comes back soon. */
const WAITS_MAX = 10_000;

/** Who was told to wait, and until when. */
export class RetryWaits {
  readonly #until = new Map<string, number>();

  constructor(readonly world: Pick<World, "now">) {}

  /** Says in one line what is wrong with coming now; undefined if nothing is. */
  came(entry: RequestEntry): string | undefined {
    const now = this.world.now();
    for (const key of [accountKey(entry), placeKey(entry)]) {
      const until = this.#until.get(key);
      if (until === undefined) continue;
      this.#until.delete(key);
      if (until <= now) continue;
      const seconds = Math.ceil((until - now) / 1000);
      return `came back ${seconds} s before Retry-After was over`;
    }
    return undefined;
  }

  /** A 429 is about everything of a token, another wait about what was asked. */
  answered(entry: RequestEntry): void {
    const waitMs = this.#waitMs(entry.retryAfter);
    if (waitMs === undefined) return;
    if (this.#until.size >= WAITS_MAX) this.#until.clear();
    const key = entry.status === 429 ? accountKey(entry) : placeKey(entry);
    this.#until.set(key, this.world.now() + waitMs);
  }

  forget(): void {
    this.#until.clear();
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
