import type { World } from "../../../shared/world.ts";
import type { App } from "../../app/app.ts";
import { settledWithin } from "../../listen/listener.ts";
import { datedAnswer } from "./dated-answer.ts";
import type { DrivenClock } from "./driven-clock.ts";

/** Half a request, whose rest never comes, holds nothing up for longer. */
const UNDER_WAY_MS_MAX = 1000;

/** A service that is moved only while it rests. */
export interface RestingApp {
  readonly app: App;
  /** Resolves when the moves of the clock and the requests that have come by now are over. */
  rest(): Promise<void>;
}

/**
 * A service whose clock moves while nothing is under way: each request sees the time before a move
 * or after it. Requests that come meanwhile wait, so that a move ends even if a client never
 * pauses. An answer that a fault delays counts as given.
 */
export function atRest(
  app: App,
  { clock, real }: { readonly clock: DrivenClock; readonly real: World },
): RestingApp {
  const underWay = new Set<Promise<unknown>>();
  const inTurn = async <T>(take: () => Promise<T>): Promise<T> => {
    while (clock.arrival) await clock.arrival;
    const answered = take();
    underWay.add(answered);
    try {
      return await answered;
    } finally {
      underWay.delete(answered);
    }
  };
  const settled = async () => {
    if (underWay.size === 0) return;
    await settledWithin(real, Promise.allSettled(underWay), UNDER_WAY_MS_MAX);
  };
  clock.beginMovesAfter(settled);
  return {
    app: {
      ...app,
      fetch: (request, peer) =>
        inTurn(async () => datedAnswer(await app.fetch(request, peer), clock)),
      openLive: (request, peer) => inTurn(() => app.openLive(request, peer)),
    },
    async rest() {
      // What has just come is under way after that.
      await new Promise<void>((resolve) => real.defer(resolve));
      await clock.arrival;
      await settled();
    },
  };
}
