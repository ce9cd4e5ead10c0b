const HEAD_END = "\r\n\r\n";
const UPGRADE = /\r\nupgrade: *websocket/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Finds the requests in what a client sends over one HTTP/1.1 connection. */
export class RequestCounter {
  #head = "";
  /** Bytes of the body that are to come. */
  #bodyBytes = 0;
  #live = false;

  /** The connection was upgraded to the live socket: what comes is no request any more. */
  get live(): boolean {
    return this.#live;
  }

  /** How many requests' heads end in this chunk. Throws for a body of unknown length. */
  take(chunk: Buffer): number {
    let rest = chunk;
    let requests = 0;
    while (rest.length > 0 && !this.#live) {
      if (this.#bodyBytes > 0) {
        const taken = Math.min(this.#bodyBytes, rest.length);
        this.#bodyBytes -= taken;
        rest = rest.subarray(taken);
        continue;
      }
      const before = this.#head.length;
      this.#head += rest.toString("latin1");
      const end = this.#head.indexOf(HEAD_END);
      if (end === -1) return requests;
      rest = rest.subarray(end + HEAD_END.length - before);
      this.#readHead(this.#head.slice(0, end));
      this.#head = "";
      requests += 1;
    }
    return requests;
  }

  #readHead(head: string): void {
    if (CHUNKED.test(head)) throw new Error("a request came in chunks, which are not counted");
    this.#live = UPGRADE.test(head);
    this.#bodyBytes = Number(LENGTH.exec(head)?.[1] ?? 0);
  }
}
