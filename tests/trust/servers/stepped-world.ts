import type { World } from "../../../shared/world.ts";
import type { Dice } from "../simulate/dice.ts";

/** Timers up to this long run at once, for whoever waits so long waits for others' turns. */
const AT_ONCE_MS = 20;

interface Waiting {
  readonly at: number;
  readonly callback: () => void;
}

/** A server's world: its clock may be days off, and long timers run when the run says so. */
export class SteppedWorld implements World {
  readonly #dice: Dice;
  readonly #aheadMs: number;
  readonly #timers = new Set<Waiting>();
  #passed = 0;
  #isOver = false;

  constructor(dice: Dice, aheadMs: number) {
    this.#dice = dice;
    this.#aheadMs = aheadMs;
  }

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  monotonic(): number {
    return this.#passed;
  }

  setTimer(delayMs: number, callback: () => void) {
    if (delayMs <= AT_ONCE_MS) {
      const handle = setImmediate(() => this.#isOver || callback());
      return { cancel: () => clearImmediate(handle) };
    }
    const waiting = { at: this.#passed + delayMs, callback };
    this.#timers.add(waiting);
    return { cancel: () => void this.#timers.delete(waiting) };
  }

  defer(callback: () => void): void {
    setImmediate(() => this.#isOver || callback());
  }

  randomBytes(length: number): Uint8Array {
    return this.#dice.bytes(length);
  }

  /** Time goes on; what is due runs. */
  pass(milliseconds: number): void {
    this.#passed += milliseconds;
    const due = [...this.#timers].filter(({ at }) => at <= this.#passed);
    for (const waiting of due.sort((one, other) => one.at - other.at)) {
      if (this.#timers.delete(waiting)) waiting.callback();
    }
  }

  /** Nothing that waits here ever runs. */
  end(): void {
    this.#isOver = true;
    this.#timers.clear();
  }
}
