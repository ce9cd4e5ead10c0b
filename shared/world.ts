/**
 * Everything that differs from run to run: time, timers and randomness. All code but
 * `world-real.ts` is given a `World`, so that a whole cluster can run in one process from one seed.
 */
export interface World {
  /** Wall clock, in milliseconds since the Unix epoch. May jump in either direction. */
  now(): number;
  /** A clock that never goes back, in milliseconds from an arbitrary start. For durations only. */
  monotonic(): number;
  /** Runs `callback` once, no sooner than `delayMs` from now. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /** Runs `callback` after everything that is ready to run now. */
  defer(callback: () => void): void;
  /** `length` random bytes. From the operating system in the real world. */
  randomBytes(length: number): Uint8Array;
}

/** A call of `setTimer` that may still be taken back. */
export interface Timer {
  /** After this the callback will not run. Harmless when it already has. */
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
export function delay(world: World, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    world.setTimer(delayMs, resolve);
  });
}
