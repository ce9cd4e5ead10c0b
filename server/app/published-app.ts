import { PUBLISHED } from "../routes/published/published.ts";
import { type App, type AppDeps, createApp } from "./app.ts";

/**
 * All headers that an answer may carry: HTTP's own, and the emulator's mark. Whatever else an app
 * sends is an extension, and a client that must work without it is to notice.
 */
const HEADERS: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "www-authenticate",
  "x-memsync-emulator",
]);

/**
 * An app that behaves as a service which implements the specification and nothing else: the
 * stand-in for a hosted service by others. What is unpublished is ignored in a request, left out of
 * an answer, and 404 as a path.
 */
export function createPublishedApp(deps: Omit<AppDeps, "serves">): App {
  const app = createApp({ ...deps, serves: PUBLISHED });
  return {
    world: app.world,
    routes: app.routes,
    refuse: (error) => bare(app.refuse(error)),
    fetch: async (request, peer) => bare(await app.fetch(request, peer)),
    async openLive(request, peer) {
      const handshake = await app.openLive(request, peer);
      if (handshake.accepted) return handshake;
      return { accepted: false, response: bare(handshake.response) };
    },
  };
}

function bare(response: Response): Response {
  for (const name of [...response.headers.keys()]) {
    if (!HEADERS.has(name)) response.headers.delete(name);
  }
  return response;
}
