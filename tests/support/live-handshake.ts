/** The head of an answer to a WebSocket handshake, and what followed it so far. */
export interface HandshakeAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** All that was received, as text. */
  readonly text: string;
}

const HANDSHAKE = {
  Host: "localhost",
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Version": "13",
};

/** Asks for the live socket and hangs up; an empty `token` sends none. */
export function shakeHands(
  url: string,
  token: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<HandshakeAnswer> {
  const authorization = token === "" ? {} : { Authorization: `Bearer ${token}` };
  const headers = Object.entries({ ...HANDSHAKE, ...authorization, ...changes });
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const request = ["GET /api/live HTTP/1.1", ...lines, "", ""].join("\r\n");
  return new Promise((resolve, reject) => {
    let received = "";
    Bun.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(url).port),
      socket: {
        open: (socket) => void socket.write(request),
        data(socket, chunk) {
          received += chunk.toString();
          if (!isWhole(received)) return;
          resolve(parseAnswer(received));
          socket.end();
        },
        close: () => reject(new Error(`hung up after ${received.length} bytes`)),
        error: (_socket, error) => reject(error),
      },
    }).catch(reject);
  });
}

function isWhole(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = Number(/^content-length: (\d+)$/im.exec(received)?.[1] ?? 0);
  return Buffer.byteLength(received.slice(end + 4)) >= length;
}

function parseAnswer(text: string): HandshakeAnswer {
  const [first = "", ...lines] = (text.split("\r\n\r\n", 1)[0] ?? "").split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { status: Number(first.split(" ")[1]), headers, text };
}
