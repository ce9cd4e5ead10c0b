import type { World } from "../shared/world.ts";

/**
 * `fetch` as the user's platform types it; where nothing declares it, any function of that kind.
 * The package must not depend on the types of one platform.
 */
export type Fetch = typeof globalThis extends { fetch: (...given: infer Given) => infer Answer }
  ? (...given: Given) => Answer
  : (url: string, init: object) => Promise<unknown>;

/** `AbortSignal` as the user's platform types it. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Declared } }
  ? Declared
  : object;

/** What a client takes from its surroundings. */
export type ClientWorld = Pick<World, "monotonic" | "setTimer" | "randomBytes">;

/** The clock, timers and randomness that browsers, Node and Bun all have. */
export const platformWorld: ClientWorld = {
  monotonic: () => performance.now(),
  setTimer(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};
