import { chmodSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { AppError } from "../../shared/errors.ts";
import type { App } from "../app/app.ts";
import type { LiveHandshake } from "../app/shake-hands.ts";
import { BODY_ARRIVAL_MS_MAX } from "../http/body-deadline.ts";
import { cutOf } from "../http/cut-answer.ts";
import type { PeerAddress } from "../http/metrics-access.ts";
import { CLOSE } from "../live/close-codes.ts";
import type { LiveSession, LiveSocket } from "../live/live-session.ts";
import {
  CLOSE_GRACE_MS,
  HEADERS_TIMEOUT_S,
  IDLE_TIMEOUT_S,
  LIVE_FRAME_BYTES_READ_MAX,
  type Listen,
  type ListenAddress,
  leaving,
  listenError,
  settledWithin,
  urlOf,
} from "./listener.ts";
import { Message, requestOf, sendCut, sendOnSocket, sendResponse } from "./node-http.ts";

/** How many connections are accepted at a time. Bun has only the system's limit on open files. */
const CONNECTIONS_MAX = 20_000;

/** After so many turns that accept nobody, nobody waits any more, and what they ask is read. */
const QUIET_TURNS = 3;

/** The system lets 511 connections wait for Node. Those that go on coming are not waited for. */
const LAST_TURNS_MAX = 512;

const SERVER_OPTIONS = {
  IncomingMessage: Message,
  keepAliveTimeout: IDLE_TIMEOUT_S * 1000,
  headersTimeout: HEADERS_TIMEOUT_S * 1000,
  // Longer than the app's own deadline for a body, so that the app answers a slow client.
  requestTimeout: BODY_ARRIVAL_MS_MAX + 10_000,
  connectionsCheckingInterval: 2000,
};

/** Node's HTTP server over an app, with `ws` for the live sockets. */
export const listenNode: Listen = async (app, address) => {
  const onRequest = (message: IncomingMessage, response: ServerResponse) => {
    askedAt = app.world.monotonic();
    void serve(app, message, { to: response, closing: () => closing });
  };
  const server = createServer(SERVER_OPTIONS, onRequest);
  // An expectation that nobody knows may be ignored: RFC 9110, section 10.1.1.
  server.on("checkExpectation", onRequest);
  let closing = false;
  let askedAt: number | undefined;
  let stopped: Promise<void> | undefined;
  server.maxConnections = CONNECTIONS_MAX;
  // For a client that does not read its answer. Live sockets have their own pings.
  server.setTimeout(IDLE_TIMEOUT_S * 1000);
  server.on("clientError", (_error, socket) => void refuseMalformed(app, socket));
  const sockets = acceptSockets(app, server);
  const connections = new Set<Socket>();
  let accepted = 0;
  server.on("connection", (socket) => {
    accepted += 1;
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  await listening(server, address);
  if ("unix" in address) chmodSync(address.unix, address.mode ?? 0o600);
  const port = portOf(server);
  return { url: urlOf(address, port), port, drain, close };

  // Closing a port resets who has connected and is not accepted yet, so it stays open until then.
  async function drain(): Promise<void> {
    closing = true;
    await leaving(app.world, askedAt);
    // Node runs a timer that is late before it reads: what has come meanwhile would be hung up on.
    // A turn accepts one connection, however many wait, and the next one reads what it asks.
    let quiet = 0;
    for (let turns = 0; quiet < QUIET_TURNS && turns < LAST_TURNS_MAX; turns++) {
      const before = accepted;
      await new Promise<void>((resolve) => app.world.defer(resolve));
      quiet = accepted === before ? quiet + 1 : 0;
    }
  }

  /**
   * Stops accepting connections. `close` of `http.Server` would also end idle ones, whose clients
   * may be about to ask again.
   */
  function stopAccepting(): Promise<void> {
    stopped ??= new Promise((resolve) => {
      NetServer.prototype.close.call(server, () => resolve());
    });
    return stopped;
  }

  async function close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    closing = true;
    const ended = stopAccepting();
    server.closeIdleConnections();
    // Node does not count a connection as idle that has not asked anything yet, as `fetch` opens
    // some ahead.
    for (const each of connections) if (each.bytesRead === 0) each.destroy();
    for (const socket of sockets.clients) socket.close(CLOSE.goingAway, "the server is stopping");
    await settledWithin(app.world, ended, graceMs);
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await ended;
    // Nobody asks again by now. Node's own `close` ends its regular check of connections, which
    // would keep all of this in memory.
    server.close();
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
async function serve(
  app: App,
  message: IncomingMessage,
  { to, closing }: { readonly to: ServerResponse; readonly closing: () => boolean },
): Promise<void> {
  const response = await answer(app, message, to);
  // A connection kept for another request would delay the end of the server.
  if (closing()) to.setHeader("connection", "close");
  const cut = cutOf(response);
  if (cut) sendCut(response, cut, to);
  else await sendResponse(response, to);
}

async function answer(app: App, message: IncomingMessage, to: ServerResponse): Promise<Response> {
  try {
    const request = requestOf(message);
    if (app.aborted) to.once("close", () => app.aborted?.(request));
    return await app.fetch(request, peerOf(message));
  } catch {
    return app.refuse(malformed());
  }
}

function peerOf({ socket }: IncomingMessage): PeerAddress {
  return () => {
    const { remoteAddress: address, remotePort: port } = socket;
    return address === undefined || port === undefined ? undefined : { address, port };
  };
}

function malformed(): AppError {
  return new AppError("invalid_request", "the request is not well-formed HTTP");
}

async function refuseMalformed(app: App, socket: Duplex): Promise<void> {
  await sendOnSocket(app.refuse(malformed()), socket, app.world);
}

function acceptSockets(app: App, server: Server): WebSocketServer {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: LIVE_FRAME_BYTES_READ_MAX });
  sockets.on("wsClientError", (_error, socket) => void refuseMalformed(app, socket));
  server.on("upgrade", (message: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A client may give up its handshake, which is no error of ours; `ws` finds the socket closed.
    socket.on("error", () => {});
    void upgrade(app, sockets, { message, socket, head });
  });
  return sockets;
}

/** Never rejects. */
async function upgrade(
  app: App,
  sockets: WebSocketServer,
  {
    message,
    socket,
    head,
  }: { readonly message: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
): Promise<void> {
  const handshake = await handshakeOf(app, message, socket);
  if (!handshake.accepted) {
    if (cutOf(handshake.response)) socket.destroy();
    else await sendOnSocket(handshake.response, socket, app.world);
    return;
  }
  const addHeaders = (lines: string[], answered: IncomingMessage) => {
    if (answered !== message) return;
    for (const [name, value] of Object.entries(handshake.headers)) lines.push(`${name}: ${value}`);
  };
  sockets.on("headers", addHeaders);
  sockets.handleUpgrade(message, socket, head, (ws) => connect(ws, handshake.open));
  sockets.off("headers", addHeaders);
}

async function handshakeOf(
  app: App,
  message: IncomingMessage,
  socket: Duplex,
): Promise<LiveHandshake> {
  try {
    const request = requestOf(message);
    if (app.aborted) {
      const aborted = () => app.aborted?.(request);
      socket.once("end", aborted);
      socket.once("close", aborted);
    }
    return await app.openLive(request, peerOf(message));
  } catch {
    return { accepted: false, response: app.refuse(malformed()) };
  }
}

function connect(ws: WebSocket, open: (socket: LiveSocket) => LiveSession): void {
  const session = open({
    send: (frame) => ws.send(frame),
    ping: () => ws.ping(),
    close: (code, reason) => ws.close(code, reason),
    terminate: () => ws.terminate(),
    bufferedBytes: () => ws.bufferedAmount,
  });
  ws.on("message", (frame: Buffer, isBinary) => {
    if (isBinary) session.receiveBinary();
    else session.receive(frame.toString("utf8"));
  });
  ws.on("pong", () => session.pong());
  ws.on("close", (code, reason) => session.closed(code, reason.toString("utf8")));
  // Whatever went wrong, "close" follows and says everything that matters.
  ws.on("error", () => {});
}
