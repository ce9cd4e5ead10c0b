import type { World } from "../../../shared/world.ts";
import type { App } from "../../app/app.ts";
import { settledWithin } from "../../listen/listener.ts";
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
 * A service that takes up no request while its clock moves: each sees the time before a move or
 * after it, and a move has an end beside a client that never pauses. Requests under way go on.
 */
export function atRest(
  app: App,
  { clock, real }: { readonly clock: Pick<DrivenClock, "arrival">; readonly real: World },
): RestingApp {
  const underWay = new Set<Promise<Response>>();
  return {
    app: {
      ...app,
      async fetch(request, peer) {
        await clock.arrival;
        const answered = app.fetch(request, peer);
        underWay.add(answered);
        try {
          return await answered;
        } finally {
          underWay.delete(answered);
        }
      },
      async openLive(request, peer) {
        await clock.arrival;
        return await app.openLive(request, peer);
      },
    },
    async rest() {
      // What has just come is under way after that.
      await new Promise<void>((resolve) => real.defer(resolve));
      await clock.arrival;
      await settledWithin(real, Promise.allSettled(underWay), UNDER_WAY_MS_MAX);
    },
  };
}
