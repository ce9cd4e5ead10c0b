import type { World } from "../../shared/world.ts";
import { createTestWorld, type TestWorld } from "./test-world.ts";

/** A test's world in which timers run, when the clock that `advance` moves has come to them. */
export interface DrivenWorld extends TestWorld {
  /** Moves the wall clock alone, as someone who sets it does. */
  setClockBy(milliseconds: number): void;
  /** Timers that have neither run nor been taken back. */
  readonly timers: number;
  /** Until the next of them runs. */
  nextTimerInMs(): number;
}

export function createDrivenWorld(seed?: string): DrivenWorld {
  const clock = createTestWorld(seed);
  const timers = new Map<symbol, { readonly at: number; readonly callback: () => void }>();
  let setBy = 0;
  const setTimer: World["setTimer"] = (delayMs, callback) => {
    const name = Symbol("timer");
    timers.set(name, { at: clock.monotonic() + delayMs, callback });
    return { cancel: () => void timers.delete(name) };
  };
  return {
    ...clock,
    now: () => clock.now() + setBy,
    setTimer,
    advance(milliseconds) {
      clock.advance(milliseconds);
      for (const [name, { at, callback }] of [...timers]) {
        if (at > clock.monotonic() || !timers.delete(name)) continue;
        callback();
      }
    },
    setClockBy: (milliseconds) => {
      setBy += milliseconds;
    },
    nextTimerInMs: () => {
      return Math.min(...[...timers.values()].map(({ at }) => at - clock.monotonic()));
    },
    get timers() {
      return timers.size;
    },
  };
}
