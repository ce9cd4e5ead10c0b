import type { World } from "../../shared/world.ts";
import { type ArrivalTime, UNSEEN_MS } from "./arrivals.ts";

/**
 * Tells how long before a save a change came into its file. Where this process has seen it come the
 * steady clock says so, which nobody sets; of former processes only the wall clock is left.
 */
export class ArrivalClock {
  readonly #world: Pick<World, "monotonic" | "now">;
  /** By the arrival's id, when it came by the steady clock. */
  readonly #cameAt = new Map<number, number>();

  constructor(world: Pick<World, "monotonic" | "now">) {
    this.#world = world;
  }

  /** A change comes now; one that goes on from a former one came when that did. */
  came(id: number, former?: number): void {
    const at = former === undefined ? this.#world.monotonic() : this.#cameAt.get(former);
    if (at !== undefined) this.#cameAt.set(id, at);
  }

  /** Forgets all but these. */
  keep(arrivals: readonly Pick<ArrivalTime, "id">[]): void {
    const kept = new Set(arrivals.map(({ id }) => id));
    for (const id of this.#cameAt.keys()) if (!kept.has(id)) this.#cameAt.delete(id);
  }

  /** Those that the author of a save may not have seen. `savedAt`: milliseconds since the epoch. */
  unseenAt(arrivals: readonly ArrivalTime[], savedAt: number): ArrivalTime[] {
    return arrivals.filter((arrival) => this.#ageOf(arrival, savedAt) < UNSEEN_MS);
  }

  #ageOf({ id, at }: ArrivalTime, savedAt: number): number {
    const cameAt = this.#cameAt.get(id);
    const now = this.#world.now();
    // Clocks of file systems may be ahead of ours.
    if (cameAt === undefined) return Math.min(savedAt, now) - at;
    const sinceMs = this.#world.monotonic() - cameAt;
    const savedAgoMs = Math.max(0, now - savedAt);
    return sinceMs - Math.min(savedAgoMs, sinceMs);
  }
}
