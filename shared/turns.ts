import type { World } from "../../world.ts";

/** Ends a long write's turn of the event loop, if it has lasted; the write goes on in the next. */
export type Pause = () => Promise<void> | undefined;

/** How long one turn lasts. A step between two calls of a pause should take much less. */
const TURN_MS = 2;

/**
 * A pause for writes of a process that answers others besides. Its transaction stays open
 * meanwhile: other writes wait for it, and nobody sees what it has done so far.
 */
export function createPause(world: World): Pause {
  let begunAt = world.monotonic();
  return () => {
    if (world.monotonic() - begunAt < TURN_MS) return undefined;
    return new Promise<void>((resolve) => {
      world.defer(() => {
        begunAt = world.monotonic();
        resolve();
      });
    });
  };
}
