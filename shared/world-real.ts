import { randomFillSync } from "node:crypto";
import type { World } from "./world.ts";

/** The only file that uses the real clock, real timers and real randomness. */
export const realWorld: World = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
  defer: (callback) => {
    setImmediate(callback);
  },
  randomBytes: (length) => randomFillSync(new Uint8Array(length)),
};
