import { pathMatches } from "../faults/fault-paths.ts";
import type { ServedRoute } from "../interface/emulator.ts";
import type { RequestEntry } from "./journal.ts";
import { KnownWaits, type WaitClocks } from "./known-waits.ts";

/** Who was told to wait, and until when. */
export class RetryWaits {
  readonly #clocks: WaitClocks;
  readonly #retries: KnownWaits;
  readonly #spent: KnownWaits;
  /** Requests whose client knew that nothing was left of its plan, and by which answer. */
  readonly #knowing = new WeakMap<RequestEntry, RequestEntry>();

  constructor(clocks: WaitClocks) {
    this.#clocks = clocks;
    this.#retries = new KnownWaits(clocks);
    this.#spent = new KnownWaits(clocks);
  }

  /** Records if the client of a request that comes now should have waited. */
  came(entry: RequestEntry): void {
    const spent = this.#spent.leftFor(accountKey(entry), entry);
    if (spent) this.#knowing.set(entry, spent.earlier);
    const ofAll = this.#retries.leftFor(accountKey(entry), entry);
    const left = ofAll ?? this.#retries.leftFor(placeKey(entry), entry);
    if (!left) return;
    const text = `came back ${Math.ceil(left.ms / 1000)} s before Retry-After was over`;
    entry.violations.push({ rule: "early-retry", text, earlier: left.earlier });
  }

  /**
   * Records what an answer told its client to wait for; returns whether it told anything. A 429 is
   * about all requests of a token, any other wait about what was asked.
   */
  answered(entry: RequestEntry): boolean {
    const isLimited = entry.status === 429;
    const earlier = this.#knowing.get(entry);
    if (isLimited && earlier && entry.harm !== "replaced") {
      const text = "asked for more than the plan of the account allows";
      entry.violations.push({ rule: "over-limit", text, earlier });
    }
    const retryMs = this.#retryMs(entry.retryAfter);
    if (retryMs !== undefined) {
      this.#retries.add(isLimited ? accountKey(entry) : placeKey(entry), entry, retryMs);
    }
    const spentMs = spentMsIn(entry) ?? (isLimited ? retryMs : undefined);
    if (spentMs !== undefined) this.#spent.add(accountKey(entry), entry, spentMs);
    return retryMs !== undefined || spentMs !== undefined;
  }

  /** What was told by such an answer. */
  forget(isGone: (answered: RequestEntry) => boolean): void {
    this.#retries.forget(isGone);
    this.#spent.forget(isGone);
  }

  #retryMs(retryAfter: string | null): number | undefined {
    if (retryAfter === null) return undefined;
    if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
    const at = Date.parse(retryAfter);
    return Number.isNaN(at) ? undefined : at - this.#clocks.world.now();
  }
}

/** How long nothing is left, as `RateLimit` says it; undefined if something is. */
function spentMsIn({ responseHeaders }: RequestEntry): number | undefined {
  const told = responseHeaders?.get("ratelimit") ?? "";
  const seconds = [...told.matchAll(/;r=0;t=(\d+)/g)].map(([, after]) => Number(after));
  return seconds.length === 0 ? undefined : Math.max(...seconds) * 1000;
}

/** Whether a plan counts it: not the pages of a server, nor what nothing serves. */
export function isCounted(
  { method, path }: RequestEntry,
  routes: readonly Pick<ServedRoute, "method" | "path">[],
): boolean {
  const asked = method === "HEAD" ? "GET" : method;
  const isServed = (route: Pick<ServedRoute, "method" | "path">) =>
    route.method === asked && pathMatches(route.path, path);
  return /^\/(v1|api)\//.test(path) && routes.some(isServed);
}

function accountKey({ token = "" }: RequestEntry): string {
  return token;
}

function placeKey({ token = "", method, path }: RequestEntry): string {
  return `${token}\n${method}\n${path}`;
}
