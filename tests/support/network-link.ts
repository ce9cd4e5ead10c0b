import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A machine's way to a server: a port of its own that passes bytes on, and can be cut. */
export interface NetworkLink {
  /** What the machine takes for the server's address. */
  readonly url: string;
  /** Breaks every connection, and each new one at once. */
  cut(): void;
  restore(): void;
  /** Nothing comes through those connections any more that are there, and neither end is told. */
  stall(): void;
  close(): void;
}

/** Opens a way to the server at `target`. */
export async function openNetworkLink(target: string): Promise<NetworkLink> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let up = true;
  const server = createServer((near) => {
    if (!up) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [socket, peer] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => peer.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        peer.destroy();
      });
      socket.pipe(peer);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    up = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    restore() {
      up = true;
    },
    stall() {
      for (const socket of sockets) {
        socket.unpipe();
        socket.removeAllListeners("data");
        socket.pause();
      }
    },
    close() {
      cut();
      server.close();
    },
  };
}
