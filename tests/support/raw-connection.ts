import { waitFor } from "./wait-for.ts";

/** A connection over which bytes go as they are. */
export interface RawConnection extends Disposable {
  write(text: string | Uint8Array): void;
  /** All that came so far. */
  received(): string;
  closed(): boolean;
  /** Resolves when `pattern` is in what came; rejects when the connection ends without. */
  until(pattern: RegExp): Promise<string>;
  /** Stops reading, as a client that hangs does. */
  pause(): void;
}

export async function connectRaw(port: number): Promise<RawConnection> {
  let received = "";
  let closed = false;
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_socket, chunk) {
        received += chunk.toString("latin1");
      },
      close() {
        closed = true;
      },
      error() {
        closed = true;
      },
    },
  });
  return {
    write(text) {
      socket.write(text);
      socket.flush();
    },
    received: () => received,
    closed: () => closed,
    async until(pattern) {
      return await waitFor(`${pattern} over a raw connection`, () => {
        if (pattern.test(received)) return received;
        if (closed) throw new Error(`closed after ${JSON.stringify(received)}`);
        return false;
      });
    },
    pause: () => void socket.pause(),
    [Symbol.dispose]: () => void socket.terminate(),
  };
}
