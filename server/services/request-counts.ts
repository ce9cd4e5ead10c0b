import type { Stats } from "../../shared/wire/stats.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import type { World } from "../../shared/world.ts";

const SECOND_MS = 1000;
const MINUTE_SECONDS = 60;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;

interface Counts {
  /** Requests of each of the last sixty seconds, by the second's number. */
  readonly seconds: Map<number, number>;
  day: number;
  inDay: number;
}

/** Counts each account's authenticated requests, in memory; sets no limit. */
export class RequestCounts {
  readonly #accounts = new Map<string, Counts>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  add(account: string): void {
    const now = this.#world.now();
    const counts = this.#countsOf(account, now);
    const second = Math.floor(now / SECOND_MS);
    counts.seconds.set(second, (counts.seconds.get(second) ?? 0) + 1);
    counts.inDay += 1;
  }

  /** As `stats` shows them: without limits there is nothing to remain. */
  read(account: string): Stats["requests"] {
    const now = this.#world.now();
    const counts = this.#countsOf(account, now);
    const used = [...counts.seconds.values()].reduce((total, each) => total + each, 0);
    const free = { limit: null, remaining: null } as const;
    return {
      minute: { ...free, used, resets_at: timestampOf(now + MINUTE_SECONDS * SECOND_MS) },
      day: { ...free, used: counts.inDay, resets_at: timestampOf((counts.day + 1) * DAY_MS) },
    };
  }

  #countsOf(account: string, now: number): Counts {
    const day = Math.floor(now / DAY_MS);
    const known = this.#accounts.get(account) ?? { seconds: new Map(), day, inDay: 0 };
    this.#accounts.set(account, known);
    if (known.day !== day) Object.assign(known, { day, inDay: 0 });
    const oldest = Math.floor(now / SECOND_MS) - MINUTE_SECONDS;
    for (const second of known.seconds.keys()) if (second <= oldest) known.seconds.delete(second);
    return known;
  }
}
