import type { World } from "../../../shared/world.ts";
import type { Dice } from "./dice.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

const START_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1000;

/** What is ready to run waits for so long at most before it does. */
const DEFER_MS_MAX = 2;

/** One machine's wall clock, which people and time servers set. */
export class WallClock {
  #offset: number;

  /** `wrong`: it may be up to a day off from the beginning. */
  constructor(dice: Dice, wrong: boolean) {
    this.#offset = wrong ? dice.between(-DAY_MS, DAY_MS) : 0;
  }

  jump(milliseconds: number): void {
    this.#offset += milliseconds;
  }

  /** Milliseconds since the Unix epoch, when the run has lasted `elapsedMs`. */
  at(elapsedMs: number): number {
    return START_MS + this.#offset + elapsedMs;
  }
}

/** A process of the simulated world: from its start to its end, however that comes. */
export class SimProcess implements Owner {
  #alive = true;
  readonly world: World;

  constructor(scheduler: Scheduler, dice: Dice, clock: WallClock) {
    const startedAt = scheduler.now;
    this.world = {
      now: () => Math.floor(clock.at(scheduler.now)),
      monotonic: () => scheduler.now - startedAt,
      setTimer: (delayMs, callback) => scheduler.after(delayMs, this, callback),
      defer: (callback) => {
        scheduler.after(dice.between(0, DEFER_MS_MAX), this, callback);
      },
      randomBytes: (length) => dice.bytes(length),
    };
  }

  get alive(): boolean {
    return this.#alive;
  }

  end(): void {
    this.#alive = false;
  }
}
