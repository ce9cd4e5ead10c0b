/** A request on its way to the service. */
export interface Incoming {
  readonly method: string;
  readonly path: string;
  /** The bearer token; "" for none. */
  readonly token: string;
  readonly body: string;
}

/** An answer on its way back. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** The service behind a proxy, for one request, which may be another than the one that came. */
export type Pass = (changes?: Partial<Incoming>) => Promise<Answer>;

/** How a proxy is not transparent. Its own state makes it a server with a fault. */
export type Fault = (request: Incoming, pass: Pass) => Promise<Answer>;

/** A server that is the one behind it but for a fault. */
export interface BreakingProxy extends Disposable {
  readonly url: string;
}

/** Opens a proxy on a free port of loopback. */
export function openBreakingProxy(
  serve: (request: Request) => Promise<Response>,
  fault: Fault,
): BreakingProxy {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const incoming = await incomingOf(request);
      const pass: Pass = (changes) => ask(serve, { ...incoming, ...changes });
      const { status, type, body } = await fault(incoming, pass);
      return new Response(body, { status, headers: { "Content-Type": type } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

async function incomingOf(request: Request): Promise<Incoming> {
  const { pathname, search } = new URL(request.url);
  const token = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  return { method: request.method, path: pathname + search, token, body: await request.text() };
}

async function ask(
  serve: (request: Request) => Promise<Response>,
  { method, path, token, body }: Incoming,
): Promise<Answer> {
  const response = await serve(
    new Request(`http://localhost${path}`, {
      method,
      headers: token === "" ? {} : { Authorization: `Bearer ${token}` },
      ...(body !== "" && { body }),
    }),
  );
  const type = response.headers.get("content-type") ?? "";
  return { status: response.status, type, body: await response.text() };
}
