import type { App } from "../../app/app.ts";
import type { DrivenClock } from "./driven-clock.ts";

/**
 * A service that takes up no request while its clock moves: each sees the time before a move or
 * after it, and a move has an end beside a client that never pauses. Requests under way go on.
 */
export function atRest(app: App, clock: Pick<DrivenClock, "arrival">): App {
  return {
    ...app,
    async fetch(request, peer) {
      await clock.arrival;
      return await app.fetch(request, peer);
    },
    async openLive(request, peer) {
      await clock.arrival;
      return await app.openLive(request, peer);
    },
  };
}
