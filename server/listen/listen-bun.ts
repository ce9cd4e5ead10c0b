import { lookup } from "node:dns/promises";
import { chmodSync } from "node:fs";
import type { Server, ServerWebSocket } from "bun";
import { AppError } from "../../shared/errors.ts";
import { delay, type World } from "../../shared/world.ts";
import type { App } from "../app/app.ts";
import type { LiveHandshake } from "../app/shake-hands.ts";
import { type Cut, cutOf } from "../http/cut-answer.ts";
import type { PeerAddress } from "../http/metrics-access.ts";
import { CLOSE } from "../live/close-codes.ts";
import type { LiveSession, LiveSocket } from "../live/live-session.ts";
import {
  CLOSE_GRACE_MS,
  IDLE_TIMEOUT_S,
  LIVE_FRAME_BYTES_READ_MAX,
  type Listen,
  type ListenAddress,
  leaving,
  listenError,
  settledWithin,
  urlOf,
} from "./listener.ts";

interface SocketData {
  readonly open: (LiveHandshake & { accepted: true })["open"];
  session?: LiveSession;
}

type Socket = ServerWebSocket<SocketData>;

/** Bun passes the beginning of a body to the system within this time. */
const FLUSH_MS = 100;

/** Bun accepts these for unix sockets, too; its types allow them only for ports. */
const socketOptions: object = {
  // The default would end every connection that is silent for ten seconds.
  idleTimeout: IDLE_TIMEOUT_S,
  // The default outside of development shares a port that is taken, without an error.
  reusePort: false,
};

/** `Bun.serve` over an app. */
export const listenBun: Listen = async (app, address) => {
  const sockets = new Set<Socket>();
  let draining = false;
  let askedAt: number | undefined;
  const server = await serve();
  if ("unix" in address) chmodSync(address.unix, address.mode ?? 0o600);
  return { url: urlOf(address, server.port), port: server.port, drain, close };

  // When Bun stops, it hangs up on every connection that it is not just answering.
  async function drain(): Promise<void> {
    draining = true;
    await leaving(app.world, askedAt);
  }

  async function answer(came: Request, self: Server<SocketData>): Promise<Response> {
    askedAt = app.world.monotonic();
    const request = withWholeUrl(came);
    if (app.aborted) came.signal.addEventListener("abort", () => app.aborted?.(request));
    const response = cutShort(await app.fetch(request, peerOf(came, self)), app.world);
    if (draining) response.headers.set("Connection", "close");
    return response;
  }

  async function serve(): Promise<Server<SocketData>> {
    try {
      return Bun.serve<SocketData>({
        ...("unix" in address
          ? { unix: address.unix }
          : { hostname: address.host, port: address.port }),
        ...socketOptions,
        development: false,
        // The app counts bodies: Bun's own refusal has no error body.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        fetch: (request, self) =>
          request.headers.has("upgrade") ? upgrade(app, request, self) : answer(request, self),
        websocket: websocketHandler(sockets),
      });
    } catch (thrown) {
      throw listenError(address, await causeOf(address, thrown));
    }
  }

  async function close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    const stopped = server.stop(false);
    for (const socket of sockets) socket.close(CLOSE.goingAway, "the server is stopping");
    await settledWithin(app.world, stopped, graceMs);
    await server.stop(true);
  }
};

/** Of a host's name that is none Bun says whatever went wrong last. */
async function causeOf(address: ListenAddress, thrown: unknown): Promise<unknown> {
  if ("unix" in address) return thrown;
  const wrong: unknown = await lookup(address.host).then(
    () => thrown,
    (unknown) => unknown,
  );
  return wrong;
}

/** Without a host, as HTTP/1.0 allows, Bun has only the path as the URL. */
function withWholeUrl(request: Request): Request {
  const { url } = request;
  return url.startsWith("/") ? new Request(`http://localhost${url}`, request) : request;
}

function peerOf(request: Request, server: Server<SocketData>): PeerAddress {
  return () => server.requestIP(request) ?? undefined;
}

async function upgrade(
  app: App,
  came: Request,
  server: Server<SocketData>,
): Promise<Response | undefined> {
  const peer = peerOf(came, server);
  const request = withWholeUrl(came);
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return cutShort(await app.fetch(request, peer), app.world);
  }
  if (app.aborted) came.signal.addEventListener("abort", () => app.aborted?.(request));
  const handshake = await app.openLive(request, peer);
  if (!handshake.accepted) return cutShort(handshake.response, app.world);
  const { headers, open } = handshake;
  if (server.upgrade(came, { headers, data: { open } })) return undefined;
  return app.refuse(new AppError("invalid_request", "the WebSocket handshake is malformed"));
}

/** Bun resets the connection of an answer whose body fails. */
function cutShort(response: Response, world: World): Response {
  const cut = cutOf(response);
  if (!cut) return response;
  const { status, headers } = response;
  return new Response(failingBody(cut, world), { status, headers });
}

/** Its failure has no value, because Bun would print one. */
function failingBody({ body }: Cut, world: World): ReadableStream<Uint8Array> {
  let isSent = body === undefined;
  return new ReadableStream({
    async pull(controller) {
      if (isSent) {
        // What was enqueued leaves first.
        if (body) await delay(world, FLUSH_MS);
        controller.error(undefined);
      } else {
        isSent = true;
        controller.enqueue(body);
      }
    },
  });
}

function websocketHandler(sockets: Set<Socket>): Bun.WebSocketHandler<SocketData> {
  return {
    maxPayloadLength: LIVE_FRAME_BYTES_READ_MAX,
    idleTimeout: IDLE_TIMEOUT_S,
    // The session pings by itself, because it needs to know of the answer.
    sendPings: false,
    open(socket) {
      sockets.add(socket);
      socket.data.session = socket.data.open(liveSocketOf(socket));
    },
    message(socket, frame) {
      if (typeof frame === "string") socket.data.session?.receive(frame);
      else socket.data.session?.receiveBinary();
    },
    pong: (socket) => socket.data.session?.pong(),
    close(socket, code, reason) {
      sockets.delete(socket);
      socket.data.session?.closed(code, reason);
    },
  };
}

function liveSocketOf(socket: Socket): LiveSocket {
  return {
    send: (frame) => {
      socket.send(frame);
    },
    ping: () => {
      socket.ping();
    },
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    bufferedBytes: () => socket.getBufferedAmount(),
  };
}
