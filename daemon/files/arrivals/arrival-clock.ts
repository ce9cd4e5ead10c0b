import type { World } from "../../../shared/world.ts";
import { type ArrivalTime, UNSEEN_MS } from "./arrivals.ts";

/**
 * Tells how long before a save a change came into its file. For changes that this process saw
 * arrive, the steady clock decides, which nobody can set. For older ones only the wall clock is
 * left.
 */
export class ArrivalClock {
  readonly #world: Pick<World, "monotonic" | "now">;
  /** When each arrival came, by its id, on the steady clock. */
  readonly #cameAt = new Map<number, number>();
  /** Since when somebody looks, by the wall clock. */
  readonly #begunAt: number;

  constructor(world: Pick<World, "monotonic" | "now">) {
    this.#world = world;
    this.#begunAt = world.now();
  }

  /** A change arrives now. One that continues a former arrival counts from that one's time. */
  came(id: number, former?: number): void {
    const at = former === undefined ? this.#world.monotonic() : this.#cameAt.get(former);
    if (at !== undefined) this.#cameAt.set(id, at);
  }

  /**
   * For how many more milliseconds who saves may not have seen it. One that came in the future by a
   * clock that was set back counts from now.
   */
  unseenForMs(arrival: ArrivalTime): number {
    const now = this.#world.now();
    if (!this.#cameAt.has(arrival.id) && arrival.at > now) this.came(arrival.id);
    return UNSEEN_MS - this.#ageOf(arrival, now);
  }

  /** Which came during the last so many milliseconds, as far as this process saw them come. */
  cameWithin(milliseconds: number): number[] {
    const since = this.#world.monotonic() - milliseconds;
    return [...this.#cameAt].flatMap(([id, at]) => (at >= since ? [id] : []));
  }

  /** Forgets all other arrivals. */
  keep(arrivals: readonly Pick<ArrivalTime, "id">[]): void {
    const kept = new Set(arrivals.map(({ id }) => id));
    for (const id of this.#cameAt.keys()) if (!kept.has(id)) this.#cameAt.delete(id);
  }

  /**
   * The arrivals that the author of a save may not have seen. `savedAt`: milliseconds since the
   * epoch.
   */
  unseenAt<A extends ArrivalTime>(arrivals: readonly A[], savedAt: number): A[] {
    return arrivals.filter((arrival) => this.#ageOf(arrival, savedAt) < UNSEEN_MS);
  }

  #ageOf({ id, at }: ArrivalTime, savedAt: number): number {
    const cameAt = this.#cameAt.get(id);
    const now = this.#world.now();
    if (cameAt === undefined) {
      // Nobody looked for some time, and of a file that lies in the future nobody knows its time.
      if (savedAt > now && at < this.#begunAt) return 0;
      // Else the file system's clock is ahead of ours.
      return Math.min(savedAt, now) - at;
    }
    const sinceMs = this.#world.monotonic() - cameAt;
    const savedAgoMs = Math.max(0, now - savedAt);
    return sinceMs - Math.min(savedAgoMs, sinceMs);
  }
}
