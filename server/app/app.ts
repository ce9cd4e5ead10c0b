import { Elysia } from "elysia";
import { AppError } from "../../shared/errors.ts";
import { randomRequestId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import type { World } from "../../shared/world.ts";
import { limitArrival } from "../http/body-deadline.ts";
import { errorResponse, noSuchPath } from "../http/errors-to-response.ts";
import { refuseForeign } from "../http/loopback.ts";
import { mayReadMetrics, type PeerAddress } from "../http/metrics-access.ts";
import { pathOf } from "../http/query.ts";
import { type CallerContext, type RequestContext, withContext } from "../http/request-context.ts";
import { charge, type Quota, UNLIMITED, withQuota } from "../limits/quota.ts";
import { refuseMalformedHandshake } from "../live/handshake.ts";
import { createLiveSession, type LiveSession, type LiveSocket } from "../live/live-session.ts";
import { LiveSockets } from "../live/live-sockets.ts";
import type { Operations } from "../operations/operations.ts";
import { createRecorder } from "../operations/recorder.ts";
import { LIVE_PATH } from "../routes/api/live.ts";
import { descriptionRoutes } from "../routes/description.ts";
import { healthRoutes, METRICS_PATH } from "../routes/health.ts";
import { EVERYTHING, type Served } from "../routes/served.ts";
import type { Caller, Services } from "../services/services.ts";

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
  readonly guessed?: (peer: PeerAddress) => Promise<void>;
  readonly world: World;
  readonly log: Log;
  /** The folder of the data, where those who are served may know it. */
  readonly place?: string;
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
  /** How much is served; everything when left out. */
  readonly serves?: Served;
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
  openLive(request: Request, peer: PeerAddress): Promise<LiveHandshake>;
  /** The answer to what never became a request. */
  refuse(error: AppError): Response;
  /** For the listeners' own timers. */
  readonly world: World;
  /** Everything that is served: methods in capitals, paths with `:name` for a parameter. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/** Builds the whole interface over `services`. Opens nothing and starts nothing. */
export function createApp(deps: AppDeps): App {
  const { world } = deps;
  const sockets = deps.sockets ?? new LiveSockets();
  const contexts: Contexts = new WeakMap();
  const router = createRouter(deps, contexts);
  const routes = router.routes.map(({ method, path }) => ({ method, path }));
  const record = createRecorder(deps, routes);
  return {
    world,
    routes,
    refuse(error) {
      const context = newContext(deps);
      const startedAt = world.monotonic();
      const asked = { method: "OTHER", url: undefined, context, startedAt };
      return record(errorResponse(context, error), asked);
    },
    async fetch(request, peer) {
      const startedAt = world.monotonic();
      const isHead = request.method === "HEAD";
      const asked = isHead ? withMethodGet(request) : request;
      contexts.set(asked, newContext(deps, peer));
      // Without a socket there is nobody to be slow.
      if (peer && asked.method !== "GET") limitArrival(asked, world);
      const answered = await router.fetch(asked);
      const response = isHead ? await withoutBody(answered) : answered;
      await delayGuess(deps, request, { status: response.status, peer });
      const { method } = request;
      return record(response, { method, url: asked.url, context: contexts.get(asked), startedAt });
    },
    async openLive(request, peer) {
      const startedAt = world.monotonic();
      const context = newContext(deps, peer);
      const handshake = await shakeHands(deps, sockets, { context, request });
      const response = handshake.accepted ? SWITCHED : handshake.response;
      await delayGuess(deps, request, { status: response.status, peer });
      const known = handshake.accepted ? handshake.context : context;
      const { method, url } = request;
      record(response, { method, url, context: known, startedAt });
      return handshake;
    },
  };
}

/** What is known of each request under way. */
type Contexts = WeakMap<Request, RequestContext | CallerContext>;

/** Stands for the 101 that the listener sends. */
const SWITCHED = { status: 101, headers: new Headers() } as const;

function createRouter(deps: AppDeps, contexts: Contexts) {
  const { services, operations, serves = EVERYTHING } = deps;
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
        const open = isOpen(deps, path, { headers, peer: context.peer });
        if (!open) {
          elysia.context = await identify(deps, context, headers);
          contexts.set(elysia.request, elysia.context);
        }
        if (deps.loopbackOnly) refuseForeign(headers, deps.allowedHosts);
        if (open) return;
        // Nothing served here needs escapes, and decoded ones would give one thing many names.
        const mayBe = !path.includes("%") && path !== METRICS_PATH && serves.mayHave(path);
        if (!mayBe) throw noSuchPath();
      })
      .onError(({ context, error }) => errorResponse(withQuota(context), error))
      .use(healthRoutes(operations))
      .use(descriptionRoutes())
      // Holds for the routes that follow; those before have no caller.
      .onBeforeHandle(({ context }) => charge(context))
      .use(serves.routes(services))
  );
}

/** Whether a path is served to this request without a token of an account. */
function isOpen(
  { operations, serves = EVERYTHING }: AppDeps,
  path: string,
  { headers, peer }: { readonly headers: Headers; readonly peer: PeerAddress | undefined },
): boolean {
  if (path !== METRICS_PATH) return serves.isOpen(path);
  return (
    operations !== undefined &&
    serves.mayHave(path) &&
    mayReadMetrics(headers, peer, operations.metricsToken)
  );
}

/** The 401 of a guessed token goes later than others. */
async function delayGuess(
  { guessed }: AppDeps,
  request: Request,
  { status, peer }: { readonly status: number; readonly peer: PeerAddress | undefined },
): Promise<void> {
  if (status === 401 && peer && request.headers.has("authorization")) await guessed?.(peer);
}

/** A browser that is made to show an answer does nothing with it. */
const SECURITY_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** What is known of a request that has just come. */
export function newContext(
  { world, log, place, extraHeaders }: Pick<AppDeps, "world" | "log" | "place" | "extraHeaders">,
  peer?: PeerAddress,
): RequestContext {
  const requestId = randomRequestId(world);
  const headers = { "X-Request-Id": requestId, ...SECURITY_HEADERS, ...extraHeaders };
  return { requestId, headers, peer, log, place };
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

type Handshake =
  | (LiveHandshake & { readonly accepted: false })
  | (LiveHandshake & { readonly accepted: true; readonly context: CallerContext });

/** After so many seconds a client that met a full house may ask again. */
const FULL_HOUSE = { "Retry-After": "60" };

/** Never rejects. */
async function shakeHands(
  deps: AppDeps,
  sockets: LiveSockets,
  { context, request }: { readonly context: RequestContext; readonly request: Request },
): Promise<Handshake> {
  let known = context;
  try {
    const asked = await identify(deps, context, request.headers);
    known = asked;
    if (deps.loopbackOnly) refuseForeign(request.headers, deps.allowedHosts);
    const { live } = deps.serves ?? EVERYTHING;
    const served = live && pathOf(request.url) === LIVE_PATH && request.method === "GET";
    if (!served) throw noSuchPath();
    charge(asked);
    refuseMalformedHandshake(request.headers);
    known = { ...asked, headers: { ...asked.headers, ...FULL_HOUSE } };
    sockets.refuseTooMany(asked.caller.account);
    return accept(deps, sockets, { context: asked, request });
  } catch (thrown) {
    return { accepted: false, response: errorResponse(withQuota(known), thrown) };
  }
}

function accept(
  deps: AppDeps,
  sockets: LiveSockets,
  { context, request }: { readonly context: CallerContext; readonly request: Request },
): Handshake {
  const authorization = request.headers.get("authorization");
  return {
    accepted: true,
    context,
    headers: context.headers,
    open: (socket) =>
      createLiveSession({
        live: deps.services.live,
        caller: context.caller,
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
