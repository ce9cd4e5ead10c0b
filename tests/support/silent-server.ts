import { createHash } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** The constant that RFC 6455 has a server hash with a handshake's key. */
const HANDSHAKE = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** A server that takes every connection and answers no request. */
export interface SilentServer {
  readonly url: string;
  /** What came over WebSockets whose handshakes it has answered. */
  readonly frames: number;
  close(): void;
}

/** Starts one on a free port of loopback. `shakesHands`: it answers WebSocket handshakes alone. */
export async function startSilentServer(shakesHands = false): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  let frames = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    let isShaken = false;
    socket.on("data", (bytes) => {
      if (isShaken) frames += 1;
      const key = /sec-websocket-key: (\S+)/i.exec(bytes.toString("latin1"))?.[1];
      if (!shakesHands || key === undefined) return;
      isShaken = true;
      const accept = createHash("sha1").update(`${key}${HANDSHAKE}`).digest("base64");
      const headers = ["upgrade: websocket", "connection: upgrade"];
      const lines = ["HTTP/1.1 101 Switching Protocols", ...headers];
      socket.write([...lines, `sec-websocket-accept: ${accept}`, "", ""].join("\r\n"));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get frames() {
      return frames;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
