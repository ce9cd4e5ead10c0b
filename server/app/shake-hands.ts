import { errorResponse, noSuchPath } from "../http/errors-to-response.ts";
import { refuseForeign } from "../http/loopback.ts";
import { pathOf } from "../http/query.ts";
import type { CallerContext, RequestContext } from "../http/request-context.ts";
import { charge, refuseExhausted, withQuota } from "../limits/quota.ts";
import { refuseMalformedHandshake } from "../live/handshake.ts";
import { createLiveSession, type LiveSession, type LiveSocket } from "../live/live-session.ts";
import type { LiveSockets } from "../live/live-sockets.ts";
import { LIVE_PATH } from "../routes/api/live.ts";
import { EVERYTHING } from "../routes/served.ts";
import type { AppDeps } from "./app-deps.ts";
import { identify } from "./identify.ts";

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

type Handshake =
  | (LiveHandshake & { readonly accepted: false })
  | (LiveHandshake & { readonly accepted: true; readonly context: CallerContext });

/** Answers a live handshake, which is charged only when it is accepted. Never rejects. */
export async function shakeHands(
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
    await refuseExhausted(asked);
    refuseMalformedHandshake(request.headers);
    const { account } = asked.caller;
    sockets.refuseTooMany(account);
    // The socket is counted before the charge, which may wait: other handshakes come meanwhile, and
    // would all find room.
    sockets.add(account);
    try {
      // Charged last, because a handshake that is refused costs nothing.
      await charge(asked);
    } finally {
      sockets.remove(account);
    }
    return accept(deps, sockets, { context: asked, request });
  } catch (thrown) {
    return { accepted: false, response: errorResponse(await withQuota(known), thrown) };
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
        account: deps.services.account,
        caller: context.caller,
        stillValid: async () => (await deps.authenticate(authorization)) !== undefined,
        sockets,
        socket,
        world: deps.connectionWorld ?? deps.world,
        log: deps.log,
      }),
  };
}
