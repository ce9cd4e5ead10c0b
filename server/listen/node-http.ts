import { IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { World } from "../../shared/world.ts";
import { LONG_ANSWER_BYTES } from "../http/answer-budget.ts";
import type { Cut } from "../http/cut-answer.ts";

/**
 * Counts as an upgrade only if it offers a WebSocket. Node would pass any other offer to the same
 * listener, with the body lost; HTTP allows such an offer to be ignored.
 */
export class Message extends IncomingMessage {
  // Declared without a value: Node sets `upgrade` before this class could.
  declare private offersUpgrade: boolean | null;

  get upgrade(): boolean | null {
    const isWebSocket = this.headers.upgrade?.toLowerCase() === "websocket";
    return this.offersUpgrade && (isWebSocket || this.method === "CONNECT");
  }

  set upgrade(offered: boolean | null) {
    this.offersUpgrade = offered;
  }
}

/**
 * Node's message as a `Request`. The body is read from the socket as it is needed. A target that
 * the URL standard would rewrite becomes an unknown path. Throws a TypeError for a header that a
 * `Request` can't have.
 */
export function requestOf(message: IncomingMessage): Request {
  const headers = new Headers();
  const { rawHeaders } = message;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  const method = METHODS_UNKNOWN_TO_FETCH.has(message.method ?? "") ? "OPTIONS" : message.method;
  const init = { method: method ?? "GET", headers };
  const url = urlOf(message.url ?? "/");
  if (method === "GET" || method === "HEAD") return new Request(url, init);
  return new Request(url, { ...init, body: bodyOf(message), duplex: "half" });
}

/** `Request` rejects these methods. Nothing is served for them or for OPTIONS. */
const METHODS_UNKNOWN_TO_FETCH = new Set(["CONNECT", "TRACE", "TRACK"]);

const NOWHERE = "http://localhost/%";

/** The host is not taken from the request, which could contain anything there. */
function urlOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  if (!URL.canParse(path, "http://localhost")) return NOWHERE;
  const url = new URL(`http://localhost${path.startsWith("/") ? "" : "/"}${path}`);
  return url.pathname === path.split("?", 1)[0] ? url.href : NOWHERE;
}

function bodyOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  // Destroying it would close the socket before the answer is sent.
  const chunks = message.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Sends an answer; resolves when it is passed to the system. A client that left is no error. */
export async function sendResponse(response: Response, to: ServerResponse): Promise<void> {
  for (const [name, value] of response.headers) to.setHeader(name, value);
  if (Number(response.headers.get("content-length")) > LONG_ANSWER_BYTES) {
    to.writeHead(response.status);
    await sendPieces(response, to);
    return;
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.body !== null) to.setHeader("content-length", bytes.length);
  to.writeHead(response.status);
  to.end(bytes);
  // Discards the rest of an unread body, so that the connection can be used again.
  to.req.resume();
}

/** Sends the beginning of an answer, if any, and ends the connection. */
export function sendCut(response: Response, { body }: Cut, to: ServerResponse): void {
  const { socket } = to.req;
  if (!body) {
    socket.destroy();
    return;
  }
  for (const [name, value] of response.headers) to.setHeader(name, value);
  // Longer than what comes, so that the client knows that something is missing.
  if (!response.headers.has("content-length")) to.setHeader("content-length", body.length + 1);
  to.writeHead(response.status);
  to.write(body, () => socket.destroy());
}

/** Each piece waits until the one before has left, so that a slow client costs no memory. */
async function sendPieces({ body }: Response, to: ServerResponse): Promise<void> {
  const gone = new Promise((resolve) => to.once("close", resolve));
  try {
    for await (const piece of body ?? []) {
      if (to.destroyed) break;
      if (to.write(piece)) continue;
      await Promise.race([gone, new Promise((resolve) => to.once("drain", resolve))]);
    }
    to.end();
    to.req.resume();
  } catch {
    // It was ended; the client must not take what it has for the whole.
    to.destroy();
  }
}

/** A peer has so long to read an answer and hang up; then its socket is closed. */
const HANG_UP_MS = 2000;

/**
 * Answers on a bare socket, where there is no `ServerResponse`, and ends it. A peer that goes on
 * sending is not waited for.
 */
export async function sendOnSocket(
  response: Response,
  socket: Duplex,
  world: World,
): Promise<void> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}`];
  for (const [name, value] of response.headers) {
    // A length that stands twice is refused by strict clients, `ws` among them.
    if (name !== "content-length") lines.push(`${name}: ${value}`);
  }
  lines.push(`content-length: ${bytes.length}`, "connection: close", "", "");
  if (!socket.writable) return;
  const timer = world.setTimer(HANG_UP_MS, () => socket.destroy());
  socket.once("close", () => timer.cancel());
  socket.end(Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), bytes]));
}
