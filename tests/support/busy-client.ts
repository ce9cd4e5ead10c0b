/** A client that asks again as soon as it is answered, until it is told to leave. */
export interface BusyClient {
  /** How many answers it has had. */
  answers(): number;
  /** `lost`: the connection ended while it waited for an answer. */
  readonly ended: Promise<"told" | "lost">;
}

const HEAD_END = "\r\n\r\n";

export async function startBusyClient(port: number, token: string): Promise<BusyClient> {
  const headers = `Host: localhost\r\nAuthorization: Bearer ${token}`;
  const request = `GET /v1/projects HTTP/1.1\r\n${headers}${HEAD_END}`;
  let answers = 0;
  let received = "";
  const ended = Promise.withResolvers<"told" | "lost">();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_socket, chunk) {
        received += chunk.toString("latin1");
        const head = received.slice(0, received.indexOf(HEAD_END) + HEAD_END.length);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
        if (!(received.length >= head.length + length)) return;
        received = "";
        answers += 1;
        if (/connection: close/i.test(head)) ended.resolve("told");
        else socket.write(request);
      },
      close: () => ended.resolve("lost"),
      error: () => ended.resolve("lost"),
    },
  });
  socket.write(request);
  return { answers: () => answers, ended: ended.promise };
}
