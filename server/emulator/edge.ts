import type { App } from "../app/app.ts";
import { pathOf } from "../http/query.ts";
import { CONTROL_PREFIX, type ControlPlane } from "./control/control-plane.ts";
import { datedAnswer } from "./time/dated-answer.ts";
import type { DrivenClock } from "./time/driven-clock.ts";

/**
 * What stands between the port and the service: the control calls, and a `Date` by the emulator's
 * clock. The service behind it knows of none of this.
 */
export function createEdge(
  app: App,
  { clock, control }: { readonly clock: DrivenClock; readonly control: ControlPlane },
): App {
  // An answer of the service has the time at which it was given.
  const dated = (response: Response): Response =>
    response.headers.has("Date") ? response : datedAnswer(response, clock);
  return {
    world: app.world,
    routes: app.routes,
    refuse: (error) => app.refuse(error),
    async fetch(request, peer) {
      const path = pathOf(request.url);
      const isControl = path.startsWith(CONTROL_PREFIX) || path === CONTROL_PREFIX.slice(0, -1);
      return dated(await (isControl ? control(request, peer) : app.fetch(request, peer)));
    },
    ...(app.aborted && { aborted: (request: Request) => app.aborted?.(request) }),
    openLive: (request, peer) => app.openLive(request, peer),
  };
}
