import type { Socket } from "bun";

const LINE_END = "\r\n";
const HEAD_END = "\r\n\r\n";
/** JSON has no line ends of this kind within: nothing else than the last chunk looks like it. */
const LAST_CHUNK = "\r\n0\r\n\r\n";

/** One answer, with the time from its request's first byte to its own last. */
export interface TimedAnswer {
  readonly status: number;
  readonly tookMs: number;
  readonly body: Buffer;
}

/**
 * One kept-alive HTTP/1.1 connection, spoken by hand: a client's own work must not be what is
 * measured. One request at a time; answers have a `Content-Length`, or are sent in chunks of JSON.
 */
export class Connection {
  #socket: Socket | undefined;
  /** What did not fit the socket's buffer. */
  #unsent: Uint8Array = new Uint8Array();
  #received: Buffer[] = [];
  #receivedBytes = 0;
  /** Bytes of the whole answer; 0 until its head has come, without end for one in chunks. */
  #expected = 0;
  #bodyStart = 0;
  #status = 0;
  #sentAt = 0;
  #done: ((answer: TimedAnswer) => void) | undefined;

  private constructor() {}

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const connection = new Connection();
    connection.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, chunk) => connection.#take(chunk),
        drain: () => connection.#write(connection.#unsent),
        close: () => connection.#broken(),
      },
    });
    return connection;
  }

  /** `request` is the whole of it, as `requestOf` makes it. */
  send(request: Uint8Array, done: (answer: TimedAnswer) => void): void {
    this.#done = done;
    this.#sentAt = performance.now();
    this.#write(request);
  }

  ask(request: Uint8Array): Promise<TimedAnswer> {
    return new Promise((resolve) => this.send(request, resolve));
  }

  close(): void {
    this.#done = undefined;
    this.#socket?.end();
  }

  #write(bytes: Uint8Array): void {
    this.#unsent = bytes.subarray(bytes.length === 0 ? 0 : (this.#socket?.write(bytes) ?? 0));
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#receivedBytes += chunk.length;
    if (this.#expected === 0) this.#readHead();
    const isInChunks = this.#expected === Number.POSITIVE_INFINITY;
    if (this.#expected === 0) return;
    if (isInChunks ? !this.#hasLastChunk() : this.#receivedBytes < this.#expected) return;
    const tookMs = performance.now() - this.#sentAt;
    const sent = Buffer.concat(this.#received).subarray(this.#bodyStart);
    const body = isInChunks ? withoutChunks(sent) : sent;
    const done = this.#done;
    this.#received = [];
    this.#receivedBytes = 0;
    this.#expected = 0;
    done?.({ status: this.#status, tookMs, body });
  }

  #readHead(): void {
    const bytes = this.#received.length === 1 ? this.#received[0] : Buffer.concat(this.#received);
    const end = bytes?.indexOf(HEAD_END) ?? -1;
    if (!bytes || end === -1) return;
    const head = bytes.toString("latin1", 0, end);
    const length = /content-length: *(\d+)/i.exec(head)?.[1];
    this.#status = Number(head.slice(9, 12));
    this.#bodyStart = end + HEAD_END.length;
    const isInChunks = length === undefined;
    this.#expected = isInChunks ? Number.POSITIVE_INFINITY : this.#bodyStart + Number(length);
  }

  #hasLastChunk(): boolean {
    let last = Buffer.alloc(0);
    for (const piece of this.#received.toReversed()) {
      if (last.length >= LAST_CHUNK.length) break;
      last = Buffer.concat([piece.subarray(-LAST_CHUNK.length), last]);
    }
    return last.toString("latin1").endsWith(LAST_CHUNK);
  }

  #broken(): void {
    if (this.#done) throw new Error("the server closed a connection");
  }
}

/** RFC 9112, 7.1. */
function withoutChunks(sent: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = sent.indexOf(LINE_END, at);
    const size = Number.parseInt(sent.toString("latin1", at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    const start = lineEnd + LINE_END.length;
    chunks.push(sent.subarray(start, start + size));
    at = start + size + LINE_END.length;
  }
}

/** A request as bytes. */
export function requestOf(
  base: { readonly url: string; readonly token: string },
  method: string,
  path: string,
  body = "",
): Uint8Array {
  const bytes = Buffer.from(body);
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${new URL(base.url).host}`,
    `Authorization: Bearer ${base.token}`,
    ...(bytes.length > 0 ? [`Content-Length: ${bytes.length}`] : []),
  ];
  return Buffer.concat([Buffer.from(head.join("\r\n") + HEAD_END), bytes]);
}
