import { chmodSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { AppError } from "../shared/errors.ts";
import type { App, LiveHandshake, Origin } from "./app.ts";
import {
  CLOSE_GRACE_MS,
  IDLE_TIMEOUT_S,
  LIVE_FRAME_BYTES_READ_MAX,
  type Listen,
  type ListenAddress,
  listenError,
  settledWithin,
  urlOf,
} from "./listener.ts";
import { CLOSE } from "./live/close-codes.ts";
import type { LiveSession, LiveSocket } from "./live/live-session.ts";
import { requestOf, sendOnSocket, sendResponse } from "./node-http.ts";

/** Node's HTTP server over an app, with `ws` for the live sockets. */
export const listenNode: Listen = async (app, address) => {
  const server = createServer((message, response) => void serve(app, message, response));
  server.keepAliveTimeout = IDLE_TIMEOUT_S * 1000;
  // Must be longer, or Node closes a kept connection while its next request arrives.
  server.headersTimeout = IDLE_TIMEOUT_S * 1000 + 1000;
  server.on("clientError", (_error, socket) => void refuseMalformed(app, socket));
  const sockets = acceptSockets(app, server);
  await listening(server, address);
  if ("unix" in address) chmodSync(address.unix, address.mode ?? 0o600);
  const port = portOf(server);
  return { url: urlOf(address, port), port, close };

  async function close(): Promise<void> {
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets.clients) socket.close(CLOSE.goingAway, "the server is stopping");
    await settledWithin(app.world, stopped, CLOSE_GRACE_MS);
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await stopped;
  }
};

function listening(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenError(address, error)));
    server.listen("unix" in address ? { path: address.unix } : address, resolve);
  });
}

function portOf(server: Server): number | undefined {
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? bound.port : undefined;
}

/** Never rejects. */
async function serve(app: App, message: IncomingMessage, to: ServerResponse): Promise<void> {
  await sendResponse(await answer(app, message), to);
}

async function answer(app: App, message: IncomingMessage): Promise<Response> {
  try {
    return await app.fetch(requestOf(message), originOf(message));
  } catch {
    return app.refuse(malformed());
  }
}

function originOf({ socket }: IncomingMessage): Origin {
  return { address: () => socket.remoteAddress };
}

function malformed(): AppError {
  return new AppError("invalid_request", "the request is not well-formed HTTP");
}

async function refuseMalformed(app: App, socket: Duplex): Promise<void> {
  await sendOnSocket(app.refuse(malformed()), socket);
}

function acceptSockets(app: App, server: Server): WebSocketServer {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LIVE_FRAME_BYTES_READ_MAX });
  sockets.on("wsClientError", (_error, socket) => void refuseMalformed(app, socket));
  server.on("upgrade", (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A handshake that its client gives up is no error of ours; `ws` finds the socket closed.
    socket.on("error", () => {});
    void upgrade(app, sockets, message, socket, head);
  });
  return sockets;
}

/** Never rejects. */
async function upgrade(
  app: App,
  sockets: WebSocketServer,
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const handshake = await handshakeOf(app, message);
  if (!handshake.accepted) return sendOnSocket(handshake.response, socket);
  const addHeaders = (lines: string[], answered: IncomingMessage) => {
    if (answered !== message) return;
    for (const [name, value] of Object.entries(handshake.headers)) lines.push(`${name}: ${value}`);
  };
  sockets.on("headers", addHeaders);
  sockets.handleUpgrade(message, socket, head, (ws) => connect(ws, handshake.open));
  sockets.off("headers", addHeaders);
}

async function handshakeOf(app: App, message: IncomingMessage): Promise<LiveHandshake> {
  if (message.headers.upgrade?.toLowerCase() !== "websocket") {
    // An offer of another protocol, which Node takes for an upgrade: answered in this one.
    return { accepted: false, response: await answerWithoutBody(app, message) };
  }
  try {
    return await app.openLive(requestOf(message), originOf(message));
  } catch {
    return { accepted: false, response: app.refuse(malformed()) };
  }
}

async function answerWithoutBody(app: App, message: IncomingMessage): Promise<Response> {
  if (message.method === "GET" || message.method === "HEAD") return answer(app, message);
  // Node has let go of the body by now.
  const error = new AppError("invalid_request", "send a body without an Upgrade header");
  return app.refuse(error);
}

function connect(ws: WebSocket, open: (socket: LiveSocket) => LiveSession): void {
  const session = open({
    send: (frame) => ws.send(frame),
    ping: () => ws.ping(),
    close: (code, reason) => ws.close(code, reason),
    bufferedBytes: () => ws.bufferedAmount,
  });
  ws.on("message", (frame: Buffer, isBinary) => {
    if (isBinary) session.receiveBinary();
    else session.receive(frame.toString("utf8"));
  });
  ws.on("pong", () => session.pong());
  ws.on("close", () => session.closed());
  // Whatever went wrong, "close" follows and says all that matters here.
  ws.on("error", () => {});
}
