import { createApp } from "../../server/app/app.ts";
import type { AppDeps } from "../../server/app/app-deps.ts";
import { listen } from "../../server/listen/listen.ts";
import type { Listener } from "../../server/listen/listener.ts";
import { type LogFields, silentLog } from "../../shared/log.ts";
import { realWorld } from "../../shared/world-real.ts";
import { createFakeServices, type FakeServices, fakeAuthenticate } from "./fake-services.ts";

/** The HTTP layer over fake services, on a real socket. */
export interface TestServer extends AsyncDisposable {
  readonly fake: FakeServices;
  readonly listener: Listener;
  /** What was logged as an error. */
  readonly errors: readonly LogFields[];
  /** A request with the token `write`, unless `token` says otherwise; "" sends none. */
  send(method: string, path: string, options?: SendOptions): Promise<Response>;
}

export interface SendOptions {
  readonly token?: string;
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function startServer(options: Partial<AppDeps> = {}): Promise<TestServer> {
  const fake = createFakeServices();
  const errors: LogFields[] = [];
  const log = { ...silentLog, error: (fields: LogFields) => void errors.push(fields) };
  const deps = { services: fake.services, authenticate: fakeAuthenticate, world: realWorld, log };
  const app = createApp({ ...deps, ...options });
  const listener = await listen(app, { host: "127.0.0.1", port: 0 });
  return {
    fake,
    listener,
    errors,
    send: (method, path, { token = "write", body, headers } = {}) =>
      fetch(`${listener.url}${path}`, {
        method,
        headers: { ...(token !== "" && { Authorization: `Bearer ${token}` }), ...headers },
        ...(body !== undefined && { body }),
      }),
    [Symbol.asyncDispose]: () => listener.close(),
  };
}

/** A body without a declared length. Bun knows the length of a `Response`'s stream, and says it. */
export function undeclared(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

/** The error body of an answer. */
export async function errorOf(response: Response): Promise<{
  readonly code: string;
  readonly message: string;
  readonly request_id: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
  readonly details_truncated?: boolean;
}> {
  const { error } = (await response.json()) as { error: Awaited<ReturnType<typeof errorOf>> };
  return error;
}

/** Sends `text` to `port` as it is; resolves to all that comes back until the server hangs up. */
export function sendRaw(port: number | undefined, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    Bun.connect({
      hostname: "127.0.0.1",
      port: port ?? 0,
      socket: {
        open: (socket) => void socket.write(text),
        data(_socket, chunk) {
          received += chunk.toString();
        },
        close: () => resolve(received),
        error: (_socket, error) => reject(error),
      },
    }).catch(reject);
  });
}
