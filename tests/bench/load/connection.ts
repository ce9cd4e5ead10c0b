import type { Socket } from "bun";

const HEAD_END = "\r\n\r\n";

/** One answer, with the time from its request's first byte to its own last. */
export interface TimedAnswer {
  readonly status: number;
  readonly tookMs: number;
  readonly body: Buffer;
}

/**
 * One kept-alive HTTP/1.1 connection, spoken by hand: a client's own work must not be what is
 * measured. One request at a time; answers carry a `Content-Length`.
 */
export class Connection {
  #socket: Socket | undefined;
  #received: Buffer[] = [];
  #receivedBytes = 0;
  /** Bytes of the whole answer; 0 until its head has come. */
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
        close: () => connection.#broken(),
      },
    });
    return connection;
  }

  /** `request` is the whole of it, as `requestOf` makes it. */
  send(request: Uint8Array, done: (answer: TimedAnswer) => void): void {
    this.#done = done;
    this.#sentAt = performance.now();
    const written = this.#socket?.write(request);
    if (written !== request.length) throw new Error("a request did not fit the socket's buffer");
  }

  ask(request: Uint8Array): Promise<TimedAnswer> {
    return new Promise((resolve) => this.send(request, resolve));
  }

  close(): void {
    this.#done = undefined;
    this.#socket?.end();
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#receivedBytes += chunk.length;
    if (this.#expected === 0) this.#readHead();
    if (this.#expected === 0 || this.#receivedBytes < this.#expected) return;
    const tookMs = performance.now() - this.#sentAt;
    const body = Buffer.concat(this.#received).subarray(this.#bodyStart);
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
    if (length === undefined) throw new Error(`an answer without a length: ${head}`);
    this.#status = Number(head.slice(9, 12));
    this.#bodyStart = end + HEAD_END.length;
    this.#expected = this.#bodyStart + Number(length);
  }

  #broken(): void {
    if (this.#done) throw new Error("the server closed a connection");
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
