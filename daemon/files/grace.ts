import type { World } from "../../shared/world.ts";

export const GRACE_MS = 10_000;

/** How long a file has to be empty or missing before that counts: many are for a moment. */
export class Grace {
  readonly #world: Pick<World, "monotonic">;
  /** Since when it is, by the steady clock. */
  #since: number | undefined;

  constructor(world: Pick<World, "monotonic">) {
    this.#world = world;
  }

  /** For how many milliseconds more it does not count. */
  left(isWithoutText: boolean): number {
    if (!isWithoutText) {
      this.end();
      return 0;
    }
    const now = this.#world.monotonic();
    this.#since ??= now;
    return Math.max(0, this.#since + GRACE_MS - now);
  }

  /** The next time it is empty or missing counts from its beginning. */
  end(): void {
    this.#since = undefined;
  }
}
