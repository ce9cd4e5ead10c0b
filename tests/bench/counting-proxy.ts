import { createServer, type Server, type Socket, connect as tcpConnect } from "node:net";
import { RequestCounter } from "./request-counter.ts";

/** What went over the wire, heads included. */
export interface Exchange {
  readonly requests: number;
  /** Of the answers, how many were a 429. */
  readonly limited: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** When the last byte of an answer had passed, by `performance.now()`. */
  readonly answeredAt: number;
}

/** Stands between a client and its service, and counts. */
export interface CountingProxy {
  readonly url: string;
  readonly port: number;
  /** What was counted since the last one taken, live socket left out; undefined till answered. */
  take(): Exchange | undefined;
  /** Ends its connections; whoever comes is turned away from then on. */
  stop(): Promise<void>;
}

const NOTHING = { requests: 0, limited: 0, bytesUp: 0, bytesDown: 0, answeredAt: 0 };
const LIMITED = "HTTP/1.1 429";

/** Listens on `port`, or on any that is free, and passes everything on to `target`. */
export async function startCountingProxy(target: string, port = 0): Promise<CountingProxy> {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  let counted = { ...NOTHING };
  const server = createServer({ noDelay: true }, (client) => {
    const service = tcpConnect({ host: hostname, port: Number(targetPort), noDelay: true });
    const requests = new RequestCounter();
    client.on("data", (chunk: Buffer) => {
      counted.requests += requests.take(chunk);
      if (!requests.live) counted.bytesUp += chunk.length;
    });
    service.on("data", (chunk: Buffer) => {
      if (requests.live) return;
      if (chunk.toString("latin1", 0, LIMITED.length) === LIMITED) counted.limited += 1;
      counted.bytesDown += chunk.length;
      counted.answeredAt = performance.now();
    });
    for (const [one, other] of [[client, service] as const, [service, client] as const]) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  const listening = await listen(server, port);
  return {
    url: `http://127.0.0.1:${listening}`,
    port: listening,
    take() {
      const taken = counted;
      if (taken.answeredAt === 0) return undefined;
      counted = { ...NOTHING };
      return taken;
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a proxy has no port");
  return address.port;
}
