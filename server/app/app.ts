// The server without a port: its routes, and what happens to every request before and after them.
// The emulator, the gateway and the embedded service are made of it.

import { Elysia } from "elysia";
import type { AppError } from "../../shared/errors.ts";
import type { World } from "../../shared/world.ts";
import { Arrivals } from "../http/arrivals.ts";
import { type BodyBudget, leaseOf, readOn } from "../http/body-budget.ts";
import { limitArrival } from "../http/body-deadline.ts";
import { answerFor } from "../http/compressed-answer.ts";
import { errorResponse, noSuchPath } from "../http/errors-to-response.ts";
import { refuseForeign } from "../http/loopback.ts";
import { mayReadMetrics, type PeerAddress } from "../http/metrics-access.ts";
import { pathOf } from "../http/query.ts";
import { type CallerContext, type RequestContext, withContext } from "../http/request-context.ts";
import { charge, refundRefused, withQuota } from "../limits/quota.ts";
import { LiveSockets } from "../live/live-sockets.ts";
import { createRecorder } from "../operations/recorder.ts";
import { descriptionRoutes } from "../routes/description.ts";
import { healthRoutes, METRICS_PATH } from "../routes/health.ts";
import { EVERYTHING } from "../routes/served.ts";
import type { AppDeps } from "./app-deps.ts";
import { identify } from "./identify.ts";
import { contextOf, newContext } from "./new-context.ts";
import { type LiveHandshake, shakeHands } from "./shake-hands.ts";

/** The HTTP interface, without a port. Requests come from listeners, or from anything else. */
export interface App {
  /** Never rejects. `peer` gives the address of the socket, if there is one. */
  fetch(request: Request, peer?: PeerAddress): Promise<Response>;
  /** Never rejects. */
  openLive(request: Request, peer: PeerAddress): Promise<LiveHandshake>;
  /** The answer to something that is no valid request. */
  refuse(error: AppError): Response;
  /** If present, listeners call it with each request whose client has left. */
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
  const arrivals = new Arrivals(connectionWorld);
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
      // Without a socket requests don't come at once.
      if (peer) await arrivals.come();
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
        // The context is set before anything can be refused, because a refusal carries the
        // request's id, too.
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
        // No path here needs escapes. If they were decoded, one thing would have several names.
        const mayBe = !path.includes("%") && path !== METRICS_PATH && serves.mayHave(path);
        if (!mayBe) throw noSuchPath();
      })
      .onError(async ({ context, error }) => {
        await refundRefused(context, error);
        return errorResponse(await withQuota(context), error);
      })
      .use(healthRoutes(operations))
      .use(descriptionRoutes())
      // Applies to the routes added after this. Those before it have no caller.
      .onBeforeHandle(({ context, request }) => {
        takeRoom(bodies, context, request);
        return charge(context);
      })
      .use(serves.routes(services))
  );
}

/** The room that a body took is given back once the request is answered. */
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

/** The 401 for a guessed token is sent later than other answers. */
async function delayGuess(
  { guessed }: AppDeps,
  request: Request,
  { status, context }: { readonly status: number; readonly context: RequestContext },
): Promise<void> {
  const isGuess = status === 401 && context.peer && request.headers.has("authorization");
  if (isGuess) await guessed?.(context.client());
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
