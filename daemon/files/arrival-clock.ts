import type { World } from "../../shared/world.ts";
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

  constructor(world: Pick<World, "monotonic" | "now">) {
    this.#world = world;
  }

  /** A change arrives now. One that continues a former arrival counts from that one's time. */
  came(id: number, former?: number): void {
    const at = former === undefined ? this.#world.monotonic() : this.#cameAt.get(former);
    if (at !== undefined) this.#cameAt.set(id, at);
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
  unseenAt(arrivals: readonly ArrivalTime[], savedAt: number): ArrivalTime[] {
    return arrivals.filter((arrival) => this.#ageOf(arrival, savedAt) < UNSEEN_MS);
  }

  #ageOf({ id, at }: ArrivalTime, savedAt: number): number {
    const cameAt = this.#cameAt.get(id);
    const now = this.#world.now();
    // Where a file says that it was saved later than now, nobody knows when that was.
    if (cameAt === undefined) return savedAt > now ? 0 : savedAt - at;
    const sinceMs = this.#world.monotonic() - cameAt;
    const savedAgoMs = Math.max(0, now - savedAt);
    return sinceMs - Math.min(savedAgoMs, sinceMs);
  }
}
