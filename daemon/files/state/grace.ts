import type { World } from "../../../shared/world.ts";

export const GRACE_MS = 10_000;

/** Measures how long a file has been empty or missing. Many files are so for a moment only. */
export class Grace {
  readonly #world: Pick<World, "monotonic">;
  /** Since when the file is empty or missing, by the steady clock. */
  #since: number | undefined;

  constructor(world: Pick<World, "monotonic">) {
    this.#world = world;
  }

  /** For how many more milliseconds that does not count. */
  left(isWithoutText: boolean): number {
    if (!isWithoutText) {
      this.end();
      return 0;
    }
    const now = this.#world.monotonic();
    this.#since ??= now;
    return Math.max(0, this.#since + GRACE_MS - now);
  }

  /** For how long it has been so. */
  get goneMs(): number {
    return this.#since === undefined ? 0 : this.#world.monotonic() - this.#since;
  }

  /** The next time counts from its own beginning. */
  end(): void {
    this.#since = undefined;
  }
}
