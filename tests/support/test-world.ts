import { createHash } from "node:crypto";
import type { World } from "../../shared/world.ts";

/** A world whose clock stands still until it is told, and whose randomness repeats. */
export interface TestWorld extends World {
  /** Runs the timers whose time comes by that, the earliest first. */
  advance(milliseconds: number): void;
  /** Sets the wall clock alone, so much forward. */
  setWallClock(milliseconds: number): void;
}

const START_MS = Date.UTC(2026, 0, 1);

export function createTestWorld(seed = "seed"): TestWorld {
  let now = START_MS;
  let set = 0;
  let drawn = 0;
  let timers: readonly { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => now + set,
    monotonic: () => now,
    advance: (milliseconds) => {
      now += milliseconds;
      const due = timers.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at);
      timers = timers.filter((timer) => !due.includes(timer));
      for (const { callback } of due) callback();
    },
    setWallClock: (milliseconds) => {
      set += milliseconds;
    },
    setTimer: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback };
      timers = [...timers, timer];
      return {
        cancel: () => {
          timers = timers.filter((other) => other !== timer);
        },
      };
    },
    defer: (callback) => {
      setImmediate(callback);
    },
    randomBytes: (length) => {
      const bytes = new Uint8Array(length);
      for (let at = 0; at < length; at += 32) {
        const block = createHash("sha256").update(`${seed}/${drawn++}`).digest();
        bytes.set(block.subarray(0, length - at), at);
      }
      return bytes;
    },
  };
}
