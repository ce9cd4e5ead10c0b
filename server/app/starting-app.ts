import type { Log } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { answerRead } from "../http/answer.ts";
import { errorResponse } from "../http/errors-to-response.ts";
import type { PeerAddress } from "../http/metrics-access.ts";
import { pathOf } from "../http/query.ts";
import type { Readiness } from "../operations/readiness.ts";
import { readyAnswer } from "../routes/health.ts";
import type { App } from "./app.ts";
import { newContext } from "./new-context.ts";

/** An app that a listener can have before the real one exists. */
export interface StartingApp {
  readonly app: App;
  /** Forwards to `app` from here on, including requests that waited. */
  started(app: App): void;
}

/**
 * Answers health probes while a server starts: migrating a large database may take a while, and a
 * monitor must see a process that is alive and not ready. Other requests wait.
 */
export function createStartingApp(deps: {
  readonly world: World;
  readonly log: Log;
  readonly readiness: Readiness;
}): StartingApp {
  const { world, readiness } = deps;
  let resolve: (app: App) => void = () => {};
  const promise = new Promise<App>((done) => {
    resolve = done;
  });
  let real: App | undefined;

  function probe(request: Request): Response | undefined {
    const path = pathOf(request.url);
    const context = newContext(deps);
    if (path === "/readyz") return readyAnswer(context, request, readiness.told);
    return path === "/healthz"
      ? answerRead(context, request, { body: { status: "ok" } })
      : undefined;
  }

  const fetch = async (request: Request, peer?: PeerAddress) =>
    probe(request) ?? (await promise).fetch(request, peer);
  return {
    app: {
      world,
      refuse: (error) => real?.refuse(error) ?? errorResponse(newContext(deps), error),
      fetch: (request, peer) => (real ? real.fetch(request, peer) : fetch(request, peer)),
      openLive: async (request, peer) => (real ?? (await promise)).openLive(request, peer),
      get routes() {
        return real?.routes ?? [];
      },
    },
    started(app) {
      real = app;
      resolve(app);
    },
  };
}
