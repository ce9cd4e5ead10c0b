import type { Pause } from "./turns.ts";

/** Long work that stops wherever a turn of the event loop may end. It returns its result. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** This many items of a list are passed in a fraction of a turn. */
export const ITEMS_PER_STEP = 2048;

/** Does all of it at once. */
export function inOneTurn<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Does it step by step; after each `pause` may end the turn. */
export async function inTurns<Result>(steps: Steps<Result>, pause: Pause): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const paused = pause();
    if (paused) await paused;
  }
}
