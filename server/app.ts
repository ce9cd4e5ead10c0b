import { Elysia } from "elysia";
import { AppError } from "../shared/errors.ts";
import { randomRequestId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import type { World } from "../shared/world.ts";
import { errorResponse, noSuchPath } from "./errors-to-response.ts";
import { createLiveSession, type LiveSession, type LiveSocket } from "./live/live-session.ts";
import { refuseForeign } from "./loopback.ts";
import { pathOf } from "./query.ts";
import { type CallerContext, type RequestContext, withContext } from "./request-context.ts";
import { apiRoutes } from "./routes/api/api-routes.ts";
import { LIVE_PATH } from "./routes/api/live.ts";
import { healthRoutes, OPEN_PATHS } from "./routes/health.ts";
import { v1Routes } from "./routes/v1/v1-routes.ts";
import type { Caller, Services } from "./services/services.ts";

/** Whom an `Authorization` header names; undefined when it names nobody. */
export type Authenticate = (
  header: string | null,
) => Promise<Caller | undefined> | Caller | undefined;

/** What the interface is built over; it owns and closes none of this. */
export interface AppDeps {
  readonly services: Services;
  /** Asked at every request, and for each live socket again at every ping; must not count them. */
  readonly authenticate: Authenticate;
  /**
   * Called once for each authenticated request to a path and method that exist, a live handshake
   * included, before anything else of it is looked at. May refuse by throwing an `AppError`.
   */
  readonly charge?: (caller: Caller) => void;
  readonly world: World;
  readonly log: Log;
  /** Sent with every answer. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
  /** Refuse what a web page of another site could send to a server on its visitor's machine. */
  readonly loopbackOnly?: boolean;
}

/** The answer to a WebSocket handshake. */
export type LiveHandshake =
  | { readonly accepted: false; readonly response: Response }
  | {
      readonly accepted: true;
      /** To send with the 101. */
      readonly headers: Readonly<Record<string, string>>;
      /** Call it once, when the socket is open. */
      open(socket: LiveSocket): LiveSession;
    };

/** The HTTP interface, without a port: listeners bring it requests, and so may anything else. */
export interface App {
  /** Never rejects. */
  fetch(request: Request): Promise<Response>;
  /** Never rejects. */
  openLive(request: Request): Promise<LiveHandshake>;
  /** The answer to what never became a request. */
  refuse(error: AppError): Response;
  /** For the listeners' own timers. */
  readonly world: World;
}

/** Builds the whole interface over `services`. Opens nothing and starts nothing. */
export function createApp(deps: AppDeps): App {
  const { world, log } = deps;
  const router = createRouter(deps);
  return {
    world,
    refuse: (error) => errorResponse(contextOf(deps), error, log),
    fetch: (request) =>
      request.method === "HEAD"
        ? head(request, router.fetch)
        : Promise.resolve(router.fetch(request)),
    async openLive(request) {
      const context = contextOf(deps);
      try {
        const caller = await identify(deps, request.headers);
        if (deps.loopbackOnly) refuseForeign(request.headers);
        if (pathOf(request.url) !== LIVE_PATH || request.method !== "GET") throw noSuchPath();
        deps.charge?.(caller);
        return accept(deps, { ...context, caller }, request);
      } catch (thrown) {
        return { accepted: false, response: errorResponse(context, thrown, log) };
      }
    },
  };
}

function createRouter(deps: AppDeps) {
  const { services, log, charge } = deps;
  return (
    new Elysia({ strictPath: true, normalize: false, handler: { standardHostname: false } })
      .use(withContext)
      // Runs before a route is looked for: a bad token is 401 whatever the path.
      .onRequest(async (elysia) => {
        const context = contextOf(deps);
        // Known before anything can be refused, for a refusal carries the request's id, too.
        elysia.context = context as CallerContext;
        const { url, headers } = elysia.request;
        const path = pathOf(url);
        const open = OPEN_PATHS.has(path);
        if (!open) elysia.context = { ...context, caller: await identify(deps, headers) };
        if (deps.loopbackOnly) refuseForeign(headers);
        if (open) return;
        // Nothing served here needs escapes, and decoded ones would give one thing many names.
        if (path.includes("%")) throw noSuchPath();
      })
      .onError(({ context, error }) => errorResponse(context, error, log))
      .use(healthRoutes())
      // Holds for the routes that follow; those before have no caller.
      .onBeforeHandle(({ context }) => charge?.(context.caller))
      .use(v1Routes(services))
      .use(apiRoutes(services))
      .compile()
  );
}

function contextOf({ world, extraHeaders }: AppDeps): RequestContext {
  const requestId = randomRequestId(world);
  const headers = {
    "X-Request-Id": requestId,
    "X-Content-Type-Options": "nosniff",
    ...extraHeaders,
  };
  return { requestId, headers };
}

async function identify(deps: AppDeps, headers: Headers): Promise<Caller> {
  const caller = await deps.authenticate(headers.get("authorization"));
  if (caller !== undefined) return caller;
  throw new AppError("unauthorized", "a valid API token is needed: Authorization: Bearer <token>");
}

function accept(deps: AppDeps, context: CallerContext, request: Request): LiveHandshake {
  const authorization = request.headers.get("authorization");
  return {
    accepted: true,
    headers: context.headers,
    open: (socket) =>
      createLiveSession({
        live: deps.services.live,
        caller: context.caller,
        stillValid: async () => (await deps.authenticate(authorization)) !== undefined,
        socket,
        world: deps.world,
        log: deps.log,
      }),
  };
}

/** HEAD is GET without the body. */
async function head(
  request: Request,
  fetch: (request: Request) => Response | Promise<Response>,
): Promise<Response> {
  const { status, headers, body } = await fetch(
    new Request(request.url, { method: "GET", headers: request.headers }),
  );
  const bytes = body === null ? undefined : await new Response(body).arrayBuffer();
  if (bytes !== undefined) headers.set("Content-Length", String(bytes.byteLength));
  return new Response(null, { status, headers });
}
