import type { World } from "../../shared/world.ts";

/** A seeded generator of numbers in [0, 1): mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the items. */
export function pick<Item>(random: () => number, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

/** A world whose randomness is seeded and whose clock goes a millisecond on at each look. */
export function seededWorld(random: () => number): World {
  let now = Date.UTC(2026, 0, 1);
  return {
    now: () => ++now,
    monotonic: () => ++now,
    setTimer: () => ({ cancel() {} }),
    defer: (callback) => queueMicrotask(callback),
    randomBytes: (length) => Uint8Array.from({ length }, () => Math.floor(random() * 256)),
  };
}
