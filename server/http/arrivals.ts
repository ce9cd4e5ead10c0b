import type { World } from "../../shared/world.ts";

/** How long what has just come may take of one turn of the loop. A small request takes less. */
const TURN_MS = 3;

/** Of those that wait so many may go on in one turn. */
const AT_ONCE_MAX = 32;

/**
 * Requests that come together are begun in several turns of the event loop, if one does not suffice
 * for them: a system tells of a hundred at once. They are begun in the order in which they came. A
 * request that comes alone waits for nothing.
 */
export class Arrivals {
  readonly #world: Pick<World, "monotonic" | "defer">;
  readonly #waiting: (() => void)[] = [];
  #begunAt = Number.NEGATIVE_INFINITY;
  /** Whether the turn that began then is known to last. */
  #isInTurn = false;

  constructor(world: Pick<World, "monotonic" | "defer">) {
    this.#world = world;
  }

  /** Resolves when a request that has just come may begin; undefined: it may at once. */
  come(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#hasTime()) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#admitLater();
    });
  }

  /** A turn's beginning is not looked for before the last known one is so long ago. */
  #hasTime(): boolean {
    if (this.#world.monotonic() - this.#begunAt < TURN_MS) return true;
    if (this.#isInTurn) return false;
    this.#begin();
    return true;
  }

  #begin(): void {
    this.#begunAt = this.#world.monotonic();
    if (this.#isInTurn) return;
    this.#isInTurn = true;
    this.#world.defer(() => {
      this.#isInTurn = false;
    });
  }

  /** What is deferred runs in one turn, each with all that it leads to at once. */
  #admitLater(): void {
    const count = Math.min(this.#waiting.length, AT_ONCE_MAX);
    const admit = (at: number) => {
      if (at === 0) this.#begin();
      if (this.#hasTime()) this.#waiting.shift()?.();
      if (at === count - 1 && this.#waiting.length > 0) this.#admitLater();
    };
    for (let at = 0; at < count; at++) this.#world.defer(() => admit(at));
  }
}
