/** A WebSocket to the live path that keeps what comes until it is asked for. */
export interface LiveClient extends Disposable {
  send(frame: string | Uint8Array): void;
  /** The next frame, as JSON if it is some. Rejects when the socket closes first. */
  next(): Promise<unknown>;
  /** How the server closed it. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Resolves when the handshake is through; rejects when it is refused. */
export async function connectLive(url: string, token: string): Promise<LiveClient> {
  const options = { headers: { Authorization: `Bearer ${token}` } };
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/live`, options);
  const frames: unknown[] = [];
  const waiting: ((frame: unknown) => void)[] = [];
  socket.onmessage = ({ data }) => {
    const frame: unknown = parsed(String(data));
    const first = waiting.shift();
    if (first === undefined) frames.push(frame);
    else first(frame);
  };
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.onclose = ({ code, reason }) => resolve({ code, reason });
  });
  await Promise.race([
    new Promise((resolve) => {
      socket.onopen = resolve;
    }),
    closed.then(({ code }) => Promise.reject(new Error(`refused with ${code}`))),
  ]);
  return {
    closed,
    send: (frame) => socket.send(frame),
    next: () => {
      if (frames.length > 0) return Promise.resolve(frames.shift());
      const coming = new Promise((resolve) => waiting.push(resolve));
      return Promise.race([
        coming,
        closed.then(({ code }) => Promise.reject(new Error(`closed with ${code}`))),
      ]);
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

function parsed(frame: string): unknown {
  try {
    return JSON.parse(frame);
  } catch {
    return frame;
  }
}
