import { PUBLISHED } from "../routes/published/published.ts";
import { type App, createApp } from "./app.ts";
import type { AppDeps } from "./app-deps.ts";

/**
 * All headers that such an app may send: HTTP's own, and the emulator's mark. Others are
 * extensions, without which a client has to work.
 */
const HEADERS: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "www-authenticate",
  "x-memsync-emulator",
]);

/**
 * An app that implements the specification and nothing else: a stand-in for another vendor's
 * service. Everything unpublished is ignored in requests, missing in answers, and 404 as a path.
 */
export function createPublishedApp(deps: Omit<AppDeps, "serves">): App {
  const app = createApp({ ...deps, serves: PUBLISHED, compress: false });
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
