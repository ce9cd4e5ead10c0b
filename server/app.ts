import { Elysia } from "elysia";
import { AppError } from "../shared/errors.ts";
import { randomRequestId } from "../shared/ids.ts";
import type { Log } from "../shared/log.ts";
import type { World } from "../shared/world.ts";
import { limitArrival } from "./body-deadline.ts";
import { errorResponse, noSuchPath } from "./errors-to-response.ts";
import { createLiveSession, type LiveSession, type LiveSocket } from "./live/live-session.ts";
import { LiveSockets } from "./live/live-sockets.ts";
import { refuseForeign } from "./loopback.ts";
import { mayReadMetrics, type PeerAddress } from "./operations/metrics-access.ts";
import { type Operations, recordRequest } from "./operations/operations.ts";
import { createRoutePatterns, UNMATCHED } from "./operations/route-pattern.ts";
import { pathOf } from "./query.ts";
import { type CallerContext, type RequestContext, withContext } from "./request-context.ts";
import { apiRoutes } from "./routes/api/api-routes.ts";
import { LIVE_PATH } from "./routes/api/live.ts";
import { healthRoutes, METRICS_PATH, OPEN_PATHS } from "./routes/health.ts";
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
  /** Names besides this machine's own that requests may then name as their host. */
  readonly allowedHosts?: readonly string[];
  /** Where live sockets are counted and limited; a count of its own when left out. */
  readonly sockets?: LiveSockets;
  /** Counts and logs each request, and serves `/metrics`; neither is done when left out. */
  readonly operations?: Operations;
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
  /** Never rejects. `peer` tells the address of the socket, where there is one. */
  fetch(request: Request, peer?: PeerAddress): Promise<Response>;
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
  const sockets = deps.sockets ?? new LiveSockets();
  const contexts: Contexts = new WeakMap();
  const router = createRouter(deps, contexts);
  const record = createRecorder(
    deps,
    router.routes.map((route) => route.path),
  );
  return {
    world,
    refuse(error) {
      const context = newContext(deps);
      const startedAt = world.monotonic();
      return record("OTHER", undefined, context, startedAt, errorResponse(context, error, log));
    },
    async fetch(request, peer) {
      const startedAt = world.monotonic();
      const isHead = request.method === "HEAD";
      const asked = isHead ? withMethodGet(request) : request;
      contexts.set(asked, newContext(deps, peer));
      // Without a socket there is nobody to be slow.
      if (peer && asked.body !== null) limitArrival(asked, world);
      const answered = await router.fetch(asked);
      const response = isHead ? await withoutBody(answered) : answered;
      return record(request.method, asked.url, contexts.get(asked), startedAt, response);
    },
    async openLive(request) {
      const startedAt = world.monotonic();
      const context = newContext(deps);
      const handshake = await shakeHands(deps, sockets, context, request);
      const response = handshake.accepted ? SWITCHED : handshake.response;
      const known = handshake.accepted ? { ...context, caller: handshake.caller } : context;
      record(request.method, request.url, known, startedAt, response);
      return handshake;
    },
  };
}

/** What is known of each request under way. */
type Contexts = WeakMap<Request, RequestContext | CallerContext>;

/** Stands for the 101 that the listener sends. */
const SWITCHED = { status: 101, headers: new Headers() } as const;

/** Tells whoever operates the server of each answer, and gives it back. */
function createRecorder({ world, log, operations }: AppDeps, patterns: readonly string[]) {
  const patternOf = createRoutePatterns(patterns);
  return <Answer extends { readonly status: number; readonly headers: Headers }>(
    method: string,
    url: string | undefined,
    context: RequestContext | CallerContext | undefined,
    startedAt: number,
    answer: Answer,
  ): Answer => {
    if (!operations || !context) return answer;
    recordRequest(operations, log, {
      requestId: context.requestId,
      account: "caller" in context ? context.caller.account : undefined,
      method,
      route: url === undefined ? UNMATCHED : patternOf(pathOf(url)),
      status: answer.status,
      durationMs: world.monotonic() - startedAt,
      bytes: Number(answer.headers.get("content-length") ?? 0),
    });
    return answer;
  };
}

function createRouter(deps: AppDeps, contexts: Contexts) {
  const { services, log, charge, operations } = deps;
  return (
    new Elysia({ strictPath: true, normalize: false, handler: { standardHostname: false } })
      .use(withContext)
      // Runs before a route is looked for: a bad token is 401 whatever the path.
      .onRequest(async (elysia) => {
        const context = contexts.get(elysia.request) ?? newContext(deps);
        // Known before anything can be refused, for a refusal carries the request's id, too.
        elysia.context = context as CallerContext;
        const { url, headers } = elysia.request;
        const path = pathOf(url);
        const open = isOpen(deps, path, headers, context.peer);
        if (!open) {
          const known = { ...context, caller: await identify(deps, headers) };
          elysia.context = known;
          contexts.set(elysia.request, known);
        }
        if (deps.loopbackOnly) refuseForeign(headers, deps.allowedHosts);
        if (open) return;
        // Nothing served here needs escapes, and decoded ones would give one thing many names.
        if (path.includes("%") || path === METRICS_PATH) throw noSuchPath();
      })
      .onError(({ context, error }) => errorResponse(context, error, log))
      .use(healthRoutes(operations))
      // Holds for the routes that follow; those before have no caller.
      .onBeforeHandle(({ context }) => charge?.(context.caller))
      .use(v1Routes(services))
      .use(apiRoutes(services))
      .compile()
  );
}

/** Whether a path is served to this request without a token of an account. */
function isOpen(
  { operations }: AppDeps,
  path: string,
  headers: Headers,
  peer: PeerAddress | undefined,
): boolean {
  if (path !== METRICS_PATH) return OPEN_PATHS.has(path);
  return operations !== undefined && mayReadMetrics(headers, peer, operations.metricsToken);
}

/** A browser that is made to show an answer does nothing with it. */
const SECURITY_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** What is known of a request that has just come. */
export function newContext(
  { world, extraHeaders }: Pick<AppDeps, "world" | "extraHeaders">,
  peer?: PeerAddress,
): RequestContext {
  const requestId = randomRequestId(world);
  const headers = { "X-Request-Id": requestId, ...SECURITY_HEADERS, ...extraHeaders };
  return { requestId, headers, peer };
}

async function identify(deps: AppDeps, headers: Headers): Promise<Caller> {
  const caller = await deps.authenticate(headers.get("authorization"));
  if (caller !== undefined) return caller;
  throw new AppError("unauthorized", "a valid API token is needed: Authorization: Bearer <token>");
}

type Handshake =
  | (LiveHandshake & { readonly accepted: false })
  | (LiveHandshake & { readonly accepted: true; readonly caller: Caller });

/** Seconds after which a client that met a full house may ask again. */
const SOCKETS_RETRY_AFTER_S = 60;

/** Never rejects. */
async function shakeHands(
  deps: AppDeps,
  sockets: LiveSockets,
  context: RequestContext,
  request: Request,
): Promise<Handshake> {
  let headers = context.headers;
  try {
    const caller = await identify(deps, request.headers);
    if (deps.loopbackOnly) refuseForeign(request.headers, deps.allowedHosts);
    if (pathOf(request.url) !== LIVE_PATH || request.method !== "GET") throw noSuchPath();
    deps.charge?.(caller);
    headers = { ...headers, "Retry-After": String(SOCKETS_RETRY_AFTER_S) };
    sockets.refuseTooMany(caller.account);
    return accept(deps, sockets, { ...context, caller }, request);
  } catch (thrown) {
    return { accepted: false, response: errorResponse({ ...context, headers }, thrown, deps.log) };
  }
}

function accept(
  deps: AppDeps,
  sockets: LiveSockets,
  context: CallerContext,
  request: Request,
): Handshake {
  const authorization = request.headers.get("authorization");
  const { caller } = context;
  return {
    accepted: true,
    caller,
    headers: context.headers,
    open: (socket) =>
      createLiveSession({
        live: deps.services.live,
        caller,
        stillValid: async () => (await deps.authenticate(authorization)) !== undefined,
        sockets,
        socket,
        world: deps.world,
        log: deps.log,
      }),
  };
}

/** HEAD is GET without the body. */
function withMethodGet(request: Request): Request {
  return new Request(request.url, { method: "GET", headers: request.headers });
}

async function withoutBody({ status, headers, body }: Response): Promise<Response> {
  const bytes = body === null ? undefined : await new Response(body).arrayBuffer();
  if (bytes !== undefined) headers.set("Content-Length", String(bytes.byteLength));
  return new Response(null, { status, headers });
}
