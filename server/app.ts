import { Elysia } from "elysia";
import { AppError } from "../shared/errors.ts";
import { randomRequestId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import type { World } from "../shared/world.ts";
import { errorResponse, noSuchPath } from "./errors-to-response.ts";
import { charge, type Quota, UNLIMITED, withQuota } from "./limits/quota.ts";
import { refuseMalformedHandshake } from "./live/handshake.ts";
import { createLiveSession, type LiveSession, type LiveSocket } from "./live/live-session.ts";
import { refuseForeign } from "./loopback.ts";
import { pathOf } from "./query.ts";
import { type CallerContext, type RequestContext, withContext } from "./request-context.ts";
import { LIVE_PATH } from "./routes/api/live.ts";
import { descriptionRoutes } from "./routes/description.ts";
import { healthRoutes } from "./routes/health.ts";
import { EVERYTHING, type Served } from "./routes/served.ts";
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
   * Asked for each authenticated request. Those to a path and method that exist, live handshakes
   * included, are charged before anything else of them is looked at.
   */
  readonly quotaOf?: (caller: Caller) => Quota | Promise<Quota>;
  /** Told of each token that names nobody; its 401 waits until then. Without, it doesn't wait. */
  readonly guessed?: (origin: Origin) => Promise<void>;
  readonly world: World;
  readonly log: Log;
  /** Sent with every answer. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
  /** Refuse what a web page of another site could send to a server on its visitor's machine. */
  readonly loopbackOnly?: boolean;
  /** How much is served; everything when left out. */
  readonly serves?: Served;
}

/** Where a request comes from; never taken from the request itself. */
export interface Origin {
  /** The peer's address; undefined over a unix socket, or when it has left. */
  address(): string | undefined;
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
  /** Never rejects. Without an `origin` it comes from this process. */
  fetch(request: Request, origin?: Origin): Promise<Response>;
  /** Never rejects. */
  openLive(request: Request, origin: Origin): Promise<LiveHandshake>;
  /** The answer to what never became a request. */
  refuse(error: AppError): Response;
  /** For the listeners' own timers. */
  readonly world: World;
  /** Everything that is served: methods in capitals, paths with `:name` for a parameter. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/** Builds the whole interface over `services`. Opens nothing and starts nothing. */
export function createApp(deps: AppDeps): App {
  const { world, log } = deps;
  const router = createRouter(deps);
  const answer = (request: Request) =>
    request.method === "HEAD"
      ? head(request, router.fetch)
      : Promise.resolve(router.fetch(request));
  return {
    world,
    routes: router.routes.map(({ method, path }) => ({ method, path })),
    refuse: (error) => errorResponse(contextOf(deps), error, log),
    fetch: deps.guessed
      ? async (request, origin) => await answered(deps, request, await answer(request), origin)
      : answer,
    async openLive(request, origin) {
      const handshake = await openLive(deps, request);
      if (!handshake.accepted) await answered(deps, request, handshake.response, origin);
      return handshake;
    },
  };
}

function createRouter(deps: AppDeps) {
  const { services, log, serves = EVERYTHING } = deps;
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
        const open = serves.isOpen(path);
        if (!open) elysia.context = await identify(deps, context, headers);
        if (deps.loopbackOnly) refuseForeign(headers);
        if (open) return;
        // Nothing served here needs escapes, and decoded ones would give one thing many names.
        if (path.includes("%") || !serves.mayHave(path)) throw noSuchPath();
      })
      .onError(({ context, error }) => errorResponse(withQuota(context), error, log))
      .use(healthRoutes())
      .use(descriptionRoutes())
      // Holds for the routes that follow; those before have no caller.
      .onBeforeHandle(({ context }) => charge(context))
      .use(serves.routes(services))
      .compile()
  );
}

/** The answer, later when it tells a guessed token from a good one. */
async function answered(
  { guessed }: AppDeps,
  request: Request,
  response: Response,
  origin: Origin | undefined,
): Promise<Response> {
  const isGuess = response.status === 401 && request.headers.has("authorization");
  if (isGuess && origin) await guessed?.(origin);
  return response;
}

async function openLive(deps: AppDeps, request: Request): Promise<LiveHandshake> {
  const context = contextOf(deps);
  let known: RequestContext = context;
  try {
    const asked = await identify(deps, context, request.headers);
    known = asked;
    if (deps.loopbackOnly) refuseForeign(request.headers);
    const { live } = deps.serves ?? EVERYTHING;
    const served = live && pathOf(request.url) === LIVE_PATH && request.method === "GET";
    if (!served) throw noSuchPath();
    charge(asked);
    refuseMalformedHandshake(request.headers);
    return accept(deps, asked, request);
  } catch (thrown) {
    return { accepted: false, response: errorResponse(withQuota(known), thrown, deps.log) };
  }
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

async function identify(
  deps: AppDeps,
  context: RequestContext,
  headers: Headers,
): Promise<CallerContext> {
  const caller = await deps.authenticate(headers.get("authorization"));
  if (caller === undefined) {
    const message = "a valid API token is needed: Authorization: Bearer <token>";
    throw new AppError("unauthorized", message);
  }
  const quota = deps.quotaOf?.(caller) ?? UNLIMITED;
  return { ...context, caller, quota: quota instanceof Promise ? await quota : quota };
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
