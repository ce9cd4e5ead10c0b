/**
 * Everything that differs between runs: time, timers and randomness. All code except
 * `world-real.ts` gets a `World`, so that a whole cluster can run in one process from one seed.
 */
export interface World {
  /** Wall clock, in milliseconds since the Unix epoch. May jump in either direction. */
  now(): number;
  /** A clock that never goes back, in milliseconds from an arbitrary start. For durations only. */
  monotonic(): number;
  /** Calls `callback` once, at the earliest after `delayMs`. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /** Calls `callback` after everything that can run now. */
  defer(callback: () => void): void;
  /** `length` random bytes. In the real world, from the operating system. */
  randomBytes(length: number): Uint8Array;
}

/** A pending call of `setTimer`. */
export interface Timer {
  /** Prevents the callback. No effect if it has run already. */
  cancel(): void;
}

/** A uniformly random unsigned integer of 32 bits. */
export function randomUint32(world: Pick<World, "randomBytes">): number {
  const bytes = world.randomBytes(4);
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
}

/** A uniformly random number in [0, 1), for jitter. */
export function randomFraction(world: Pick<World, "randomBytes">): number {
  return randomUint32(world) / 2 ** 32;
}

/** Resolves after `delayMs`. */
export function delay(world: Pick<World, "setTimer">, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    world.setTimer(delayMs, resolve);
  });
}
