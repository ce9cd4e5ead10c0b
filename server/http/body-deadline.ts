import { AppError } from "../../shared/errors.ts";
import type { World } from "../../shared/world.ts";

/**
 * The time for a body to arrive. Less than a connection may be silent, so that a slow client gets
 * an answer; Bun would end it without one.
 */
export const BODY_ARRIVAL_MS_MAX = 100_000;

const worlds = new WeakMap<Request, World>();

/** From now on, reading the body of `request` takes at most `BODY_ARRIVAL_MS_MAX`. */
export function limitArrival(request: Request, world: World): void {
  worlds.set(request, world);
}

/** Resolves as `reading` does. Throws a 400 if that takes too long. */
export async function arrivedInTime<Body>(request: Request, reading: Promise<Body>): Promise<Body> {
  const world = worlds.get(request);
  if (!world) return await reading;
  return await new Promise<Body>((resolve, reject) => {
    const timer = world.setTimer(BODY_ARRIVAL_MS_MAX, () => reject(tooSlow()));
    reading.then(resolve, reject).finally(() => timer.cancel());
  });
}

function tooSlow(): AppError {
  const seconds = BODY_ARRIVAL_MS_MAX / 1000;
  return new AppError("invalid_request", `the body did not arrive within ${seconds} seconds`);
}
