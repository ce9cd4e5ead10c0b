import { createHash } from "node:crypto";
import type { World } from "../../shared/world.ts";

/** A world whose clock stands still until it is told, and whose randomness repeats. */
export interface TestWorld extends World {
  advance(milliseconds: number): void;
  /** Sets the wall clock alone, so much forward. */
  setWallClock(milliseconds: number): void;
}

const START_MS = Date.UTC(2026, 0, 1);

/** Timers never run: nothing under test here sets any. */
export function createTestWorld(seed = "seed"): TestWorld {
  let now = START_MS;
  let set = 0;
  let drawn = 0;
  return {
    now: () => now + set,
    monotonic: () => now,
    advance: (milliseconds) => {
      now += milliseconds;
    },
    setWallClock: (milliseconds) => {
      set += milliseconds;
    },
    setTimer: () => {
      throw new Error("no timer was expected");
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
