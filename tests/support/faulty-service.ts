import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What becomes of one request, instead of its answer. */
export type Fault =
  /** The connection breaks before the server has heard of it. */
  | { readonly lost: "request" }
  /** The server has done it, and the connection breaks. */
  | { readonly lost: "answer" }
  /** No answer ever comes. */
  | { readonly lost: "patience" }
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    };

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A way to a service on which the next requests meet faults, in their order. */
export interface FaultyService extends AsyncDisposable {
  readonly url: string;
  readonly faults: Fault[];
  /** Every request, whatever became of it. */
  readonly requests: readonly SentRequest[];
  /** The request that is sent next, once it is there. */
  nextRequest(): Promise<void>;
}

/** Opens a port that passes requests on to the service at `target`. */
export async function openFaultyService(target: string): Promise<FaultyService> {
  const faults: Fault[] = [];
  const requests: SentRequest[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer(async (message, response) => {
    const request = await read(message);
    requests.push(request);
    const fault = faults.shift();
    const answered = apply(fault, target, request, response);
    for (const resolve of waiting.splice(0)) resolve();
    await answered;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    requests,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function apply(
  fault: Fault | undefined,
  target: string,
  request: SentRequest,
  response: ServerResponse,
): Promise<void> {
  // A client that found its kept connection broken could send again by itself.
  response.setHeader("connection", "close");
  if (fault === undefined) return await passOn(target, request, response);
  if ("status" in fault) {
    response.writeHead(fault.status, fault.headers).end(fault.body);
    return;
  }
  if (fault.lost === "answer") await forward(target, request);
  if (fault.lost !== "patience") response.socket?.destroy();
}

async function passOn(target: string, request: SentRequest, to: ServerResponse): Promise<void> {
  const answer = await forward(target, request);
  for (const [name, value] of answer.headers) to.setHeader(name, value);
  to.writeHead(answer.status).end(await answer.text());
}

function forward(target: string, { method, path, headers, body }: SentRequest): Promise<Response> {
  const { host: _host, connection: _connection, "content-length": _length, ...kept } = headers;
  return fetch(`${target}${path}`, {
    method,
    headers: { ...(kept as Record<string, string>), "accept-encoding": "identity" },
    ...(body !== "" && { body }),
  });
}

async function read(message: IncomingMessage): Promise<SentRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const { method = "", url: path = "", headers } = message;
  return { method, path, headers, body: Buffer.concat(chunks).toString("utf8") };
}
