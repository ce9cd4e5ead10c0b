// Message types as in @hocuspocus/server's `types.ts` and y-protocols' `sync.js`.
const SYNC = 0;
const AUTH = 2;
const SYNC_STATUS = 8;
const SYNC_STEP_ONE = 0;
const SYNC_UPDATE = 2;
const AUTH_TOKEN = 0;
const AUTHENTICATED = 2;

const EMPTY_STATE_VECTOR = Uint8Array.of(0);
const VERSION = "4.8.0";

/**
 * One socket to a Hocuspocus server about one document, spoken by hand as its provider speaks: the
 * provider's own work must not be what is measured.
 */
export class HocuspocusConnection {
  #waiting: (() => void) | undefined;

  private constructor(
    readonly socket: WebSocket,
    readonly name: Uint8Array,
  ) {
    socket.addEventListener("close", () => {
      if (this.#waiting) throw new Error("the peer closed a connection");
    });
  }

  /** Resolves when the server has taken the token and answered with the document. */
  static async open(url: string, token: string, document: string): Promise<HocuspocusConnection> {
    const socket = new WebSocket(url.replace(/^http/, "ws"));
    socket.binaryType = "arraybuffer";
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error("the peer takes no connection"));
    });
    const connection = new HocuspocusConnection(socket, stringOf(document));
    await connection.#exchange(
      connection.#frame([AUTH, AUTH_TOKEN], stringOf(token), stringOf(VERSION)),
      (type, first) => type === AUTH && first === AUTHENTICATED,
    );
    await connection.#exchange(
      connection.#frame([SYNC, SYNC_STEP_ONE], sized(EMPTY_STATE_VECTOR)),
      (type) => type === SYNC,
    );
    socket.onmessage = ({ data }) => {
      if (connection.#messageIn(data)[0] === SYNC_STATUS) connection.#acknowledged();
    };
    return connection;
  }

  updateFrame(update: Uint8Array): Uint8Array {
    return this.#frame([SYNC, SYNC_UPDATE], sized(update));
  }

  /** Resolves when the server says that it has the update. */
  push(frame: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.socket.send(frame);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.socket.close();
  }

  #acknowledged(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  #exchange(frame: Uint8Array, isAnswer: (type: number, first: number) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.socket.onmessage = ({ data }) => {
        const [type = -1, first = -1] = this.#messageIn(data);
        if (isAnswer(type, first)) resolve();
      };
      this.socket.send(frame);
    });
  }

  #frame(types: readonly number[], ...parts: Uint8Array[]): Uint8Array {
    return Buffer.concat([this.name, Uint8Array.from(types), ...parts]);
  }

  /** What follows on the document's name; all types fit a byte. */
  #messageIn(data: ArrayBuffer): Uint8Array {
    return new Uint8Array(data, this.name.length);
  }
}

function stringOf(text: string): Uint8Array {
  return sized(Buffer.from(text));
}

/** Bytes behind their number, as lib0 writes them. */
function sized(bytes: Uint8Array): Uint8Array {
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push(128 + (rest % 128));
  return Buffer.concat([Uint8Array.from([...length, rest]), bytes]);
}
