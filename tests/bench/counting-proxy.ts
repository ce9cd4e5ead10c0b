import type { Socket } from "bun";

/** Bytes of one HTTP exchange as they went over the wire, heads included. */
export interface Exchange {
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** When the last byte of the answer had passed, by `performance.now()`. */
  readonly answeredAt: number;
}

/** Stands between a daemon and its service, and counts. */
export interface CountingProxy {
  readonly url: string;
  /** What was counted since the last one taken, live socket left out; undefined till answered. */
  take(): Exchange | undefined;
  stop(): void;
}

interface Side {
  peer: Socket<Side> | undefined;
  /** What came before the peer was connected. */
  early: Buffer[];
  readonly up: boolean;
  /** A connection that was upgraded to the live socket. */
  live: boolean;
}

const UPGRADE = /\r\nupgrade: *websocket/i;

export function startCountingProxy(target: string): CountingProxy {
  const { hostname, port } = new URL(target);
  let counted = { bytesUp: 0, bytesDown: 0, answeredAt: 0 };
  const count = (side: Side, chunk: Buffer) => {
    if (side.up && UPGRADE.test(chunk.toString("latin1"))) setLive(side);
    if (side.live) return;
    if (side.up) counted.bytesUp += chunk.length;
    else {
      counted.bytesDown += chunk.length;
      counted.answeredAt = performance.now();
    }
  };
  const handlers = {
    data(socket: Socket<Side>, chunk: Buffer) {
      count(socket.data, chunk);
      if (socket.data.peer) socket.data.peer.write(chunk);
      else socket.data.early.push(Buffer.from(chunk));
    },
    close(socket: Socket<Side>) {
      socket.data.peer?.end();
    },
  };
  const listener = Bun.listen<Side>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      ...handlers,
      open(client) {
        client.data = { peer: undefined, early: [], up: true, live: false };
        const data: Side = { peer: client, early: [], up: false, live: false };
        void Bun.connect<Side>({ hostname, port: Number(port), data, socket: handlers }).then(
          (server) => {
            client.data.peer = server;
            for (const chunk of client.data.early.splice(0)) server.write(chunk);
          },
        );
      },
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    take() {
      const taken = counted;
      if (taken.answeredAt === 0) return undefined;
      counted = { bytesUp: 0, bytesDown: 0, answeredAt: 0 };
      return taken;
    },
    stop: () => listener.stop(true),
  };
}

function setLive(side: Side): void {
  side.live = true;
  if (side.peer) side.peer.data.live = true;
}
