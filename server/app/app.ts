import { Elysia } from "elysia";
import { AppError } from "../../shared/errors.ts";
import { randomRequestId } from "../../shared/ids.ts";
import type { Log } from "../../shared/log.ts";
import { pauseOf } from "../../shared/turns.ts";
import type { World } from "../../shared/world.ts";
import type { AnswerBudget } from "../http/answer-budget.ts";
import { bearerToken } from "../http/bearer.ts";
import { type BodyBudget, leaseOf, readOn } from "../http/body-budget.ts";
import { limitArrival } from "../http/body-deadline.ts";
import { clientAddress } from "../http/client-address.ts";
import { answerFor } from "../http/compressed-answer.ts";
import { errorResponse, noSuchPath } from "../http/errors-to-response.ts";
import { refuseForeign } from "../http/loopback.ts";
import { mayReadMetrics, type PeerAddress } from "../http/metrics-access.ts";
import type { Networks } from "../http/networks.ts";
import { pathOf } from "../http/query.ts";
import { REFUSED_TOKEN } from "../http/refused-token.ts";
import { type CallerContext, type RequestContext, withContext } from "../http/request-context.ts";
import { charge, type Quota, refuseExhausted, UNLIMITED, withQuota } from "../limits/quota.ts";
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

/** The caller of an `Authorization` header; undefined for nobody. */
export type Authenticate = (
  header: string | null,
) => Promise<Caller | undefined> | Caller | undefined;

/** What the interface is built on. It closes none of this. */
export interface AppDeps {
  readonly services: Services;
  /**
   * Called for every request, and again at every ping of a live socket. Must not count its calls.
   */
  readonly authenticate: Authenticate;
  /**
   * Called for each authenticated request. A request to an existing path and method is charged
   * before it is examined further; a live handshake when it is accepted.
   */
  readonly quotaOf?: (caller: Caller) => Quota | Promise<Quota>;
  /**
   * Called for each invalid token, with its client's address if that is known. The 401 is sent when
   * this resolves; at once without this.
   */
  readonly guessed?: (client: string | undefined) => Promise<void>;
  readonly world: World;
  /**
   * Time as the other ends of connections know it, where `world` is driven: for bodies that are
   * slow to come and sockets that fall silent. The same when left out.
   */
  readonly connectionWorld?: World;
  readonly log: Log;
  /** The folder of the data, where callers may know it. */
  readonly place?: string;
  /** Sent with every answer. */
  readonly extraHeaders?: Readonly<Record<string, string>>;
  /**
   * Refuse requests that a web page of another site could send to a server on its visitor's
   * machine.
   */
  readonly loopbackOnly?: boolean;
  /** Further names, besides this machine's own, that such requests may use as their host. */
  readonly allowedHosts?: readonly string[];
  /** Proxies that are believed which client a request is of; none when left out. */
  readonly trustedProxies?: Networks;
  /** Compress long answers for clients that accept it. */
  readonly compress?: boolean;
  /** Bounds the bodies under way; nothing does when left out. */
  readonly bodies?: BodyBudget;
  /** Bounds the long answers under way; nothing does when left out. */
  readonly answers?: AnswerBudget;
  /** Counts and limits live sockets; a separate count when left out. */
  readonly sockets?: LiveSockets;
  /** Counts and logs requests and serves `/metrics`; none of this when left out. */
  readonly operations?: Operations;
  /** Which part of the interface is served; all of it when left out. */
  readonly serves?: Served;
}

/** The answer to a WebSocket handshake. */
export type LiveHandshake =
  | { readonly accepted: false; readonly response: Response }
  | {
      readonly accepted: true;
      /** To send with the 101. */
      readonly headers: Readonly<Record<string, string>>;
      /** To be called once, when the socket is open. */
      open(socket: LiveSocket): LiveSession;
    };

/** The HTTP interface, without a port. Requests come from listeners, or from anything else. */
export interface App {
  /** Never rejects. `peer` gives the address of the socket, if there is one. */
  fetch(request: Request, peer?: PeerAddress): Promise<Response>;
  /** Never rejects. */
  openLive(request: Request, peer: PeerAddress): Promise<LiveHandshake>;
  /** The answer to something that is no valid request. */
  refuse(error: AppError): Response;
  /** Called by listeners with a request whose client left, if this is there. */
  aborted?(request: Request): void;
  /** For the listeners' own timers. */
  readonly world: World;
  /** All routes: methods in capitals, paths with `:name` for a parameter. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

/**
 * Builds the whole interface over `services`. Opens nothing and starts nothing.
 *
 * ```
 * const app = createApp({ services, authenticate, world, log });
 * const response = await app.fetch(new Request("http://localhost/healthz"));
 * ```
 */
export function createApp(deps: AppDeps): App {
  const { world, connectionWorld = world } = deps;
  const sockets = deps.sockets ?? new LiveSockets();
  const contexts: Contexts = new WeakMap();
  const router = createRouter(deps, contexts);
  const routes = router.routes.map(({ method, path }) => ({ method, path }));
  const record = createRecorder(deps, routes);
  const inPieces = (answered: Response, asked: Request, peer: PeerAddress | undefined) => {
    const context = contexts.get(asked);
    const account = context && "caller" in context ? context.caller.account : undefined;
    return peer && deps.answers ? deps.answers.send(account, answered) : answered;
  };
  return {
    world: connectionWorld,
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
      const context = contextOf(deps, request, peer);
      contexts.set(asked, context);
      // Without a socket no client can be slow.
      if (peer && asked.method !== "GET") limitArrival(asked, connectionWorld);
      const answered = await answerOnLease(router, asked);
      // Without a socket there is nothing to send.
      const sent = peer && deps.compress ? await answerFor(request.headers, answered) : answered;
      const response = isHead ? await withoutBody(sent) : await inPieces(sent, asked, peer);
      await delayGuess(deps, request, { status: response.status, context });
      const { method } = request;
      return record(response, { method, url: asked.url, context: contexts.get(asked), startedAt });
    },
    async openLive(request, peer) {
      const startedAt = world.monotonic();
      const context = contextOf(deps, request, peer);
      const handshake = await shakeHands(deps, sockets, { context, request });
      const response = handshake.accepted ? SWITCHED : handshake.response;
      await delayGuess(deps, request, { status: response.status, context });
      const known = handshake.accepted ? handshake.context : context;
      const { method, url } = request;
      record(response, { method, url, context: known, startedAt });
      return handshake;
    },
  };
}

/** What is known of each request under way. */
type Contexts = WeakMap<Request, RequestContext | CallerContext>;

/** In place of the 101, which the listener sends. */
const SWITCHED = { status: 101, headers: new Headers() } as const;

function createRouter(deps: AppDeps, contexts: Contexts) {
  const { services, operations, bodies, serves = EVERYTHING } = deps;
  return (
    new Elysia({ strictPath: true, normalize: false, handler: { standardHostname: false } })
      .use(withContext)
      // Runs before the route is looked up: an invalid token gets 401 for any path.
      .onRequest(async (elysia) => {
        const context = contexts.get(elysia.request) ?? newContext(deps);
        // Set before anything can be refused, because a refusal carries the request's id, too.
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
        // No path here needs escapes, and decoding them would give one thing several names.
        const mayBe = !path.includes("%") && path !== METRICS_PATH && serves.mayHave(path);
        if (!mayBe) throw noSuchPath();
      })
      .onError(({ context, error }) => errorResponse(withQuota(context), error))
      .use(healthRoutes(operations))
      .use(descriptionRoutes())
      // Applies to the routes added after this. Those before it have no caller.
      .onBeforeHandle(({ context, request }) => {
        takeRoom(bodies, context, request);
        charge(context);
      })
      .use(serves.routes(services))
  );
}

/** What a body took is given back once it is answered. */
async function answerOnLease(
  router: { fetch(request: Request): Response | Promise<Response> },
  request: Request,
): Promise<Response> {
  try {
    return await router.fetch(request);
  } finally {
    leaseOf(request)?.release();
  }
}

/** Without room for its body a request is refused before it is charged. */
function takeRoom(bodies: BodyBudget | undefined, context: CallerContext, request: Request): void {
  if (bodies === undefined || context.peer === undefined) return;
  const lease = bodies.lease(context.caller.account, request.headers);
  if (lease) readOn(request, lease);
}

/** Whether this request needs no account's token for a path. */
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
  { status, context }: { readonly status: number; readonly context: RequestContext },
): Promise<void> {
  const isGuess = status === 401 && context.peer && request.headers.has("authorization");
  if (isGuess) await guessed?.(context.client());
}

/** If a browser is made to show an answer, it must do nothing with it. */
const SECURITY_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** What is known of a request that has just come. */
export function newContext({
  world,
  log,
  place,
  extraHeaders,
}: Pick<AppDeps, "world" | "log" | "place" | "extraHeaders">): RequestContext {
  const requestId = randomRequestId(world);
  const headers = { "X-Request-Id": requestId, ...SECURITY_HEADERS, ...extraHeaders };
  const pause = pauseOf(world);
  return { requestId, headers, peer: undefined, client: unknownAddress, pause, log, place };
}

const unknownAddress: PeerAddress = () => undefined;

/** Looking up an address takes time, so it is done only for the requests that want it. */
function contextOf(
  deps: AppDeps,
  { headers }: Request,
  peer: PeerAddress | undefined,
): RequestContext {
  const client = () => clientAddress(headers, peer, deps.trustedProxies);
  return { ...newContext(deps), peer, client };
}

async function identify(
  deps: AppDeps,
  context: RequestContext,
  headers: Headers,
): Promise<CallerContext> {
  const caller = await deps.authenticate(headers.get("authorization"));
  if (caller === undefined) {
    throw new AppError("unauthorized", whyUnauthorized(headers));
  }
  const quota = deps.quotaOf?.(caller) ?? UNLIMITED;
  return { ...context, caller, quota: quota instanceof Promise ? await quota : quota };
}

/** Of a refused token nobody learns why it is refused; that one was read at all helps. */
function whyUnauthorized(headers: Headers): string {
  return bearerToken(headers.get("authorization")) === undefined
    ? "a valid API token is needed: Authorization: Bearer <token>"
    : REFUSED_TOKEN;
}

type Handshake =
  | (LiveHandshake & { readonly accepted: false })
  | (LiveHandshake & { readonly accepted: true; readonly context: CallerContext });

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
    refuseExhausted(asked);
    refuseMalformedHandshake(request.headers);
    sockets.refuseTooMany(asked.caller.account);
    // Not before: a handshake that is refused costs nothing.
    charge(asked);
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
        world: deps.connectionWorld ?? deps.world,
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
