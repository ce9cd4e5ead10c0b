import type { Send } from "../../daemon/service/http-service.ts";

type Documents = Record<string, { update?: string; refused?: { message: string } }>;

interface Envelope {
  readonly documents: Documents;
  readonly projects?: Readonly<Record<string, { readonly documents: Documents }>>;
}

/** What a refusing service says of an update. */
export const REFUSAL = "it is not welcome here";

/** A way to a service that refuses the updates that `refuses`, and serves all else as it is. */
export function refusingSend(send: Send, refuses: (update: Buffer) => boolean): Send {
  return async (request) => {
    const body = request.method === "POST" ? await request.clone().text() : "";
    if (!body.includes('"crdt"')) return await send(request);
    const { crdt, ...rest } = JSON.parse(body) as { crdt: Envelope };
    const refused = takeOut(crdt, refuses);
    const parts = Object.entries(crdt.projects ?? {}).map(([id, part]) => {
      return [id, takeOut(part, refuses)] as const;
    });
    const response = await send(new Request(request, { body: JSON.stringify({ crdt, ...rest }) }));
    const answer = (await response.json()) as { crdt?: Envelope };
    Object.assign(answer.crdt?.documents ?? {}, refused);
    for (const [id, each] of parts)
      Object.assign(answer.crdt?.projects?.[id]?.documents ?? {}, each);
    return Response.json(answer, { status: response.status });
  };
}

/** Takes the documents with such updates out of a request, and gives what is to be said of them. */
function takeOut(
  { documents }: { readonly documents: Documents },
  refuses: (update: Buffer) => boolean,
): Documents {
  const refused: Documents = {};
  for (const [layer, { update }] of Object.entries(documents)) {
    if (update === undefined || !refuses(Buffer.from(update, "base64"))) continue;
    delete documents[layer];
    refused[layer] = { refused: { message: REFUSAL } };
  }
  return refused;
}

/** Refuses updates that hold any of these texts. */
export function holding(...texts: readonly string[]): (update: Buffer) => boolean {
  return (update) => texts.some((text) => update.includes(text));
}

/** The same on a port of its own. */
export function openRefusingService(target: string, refuses: (update: Buffer) => boolean): OpenWay {
  return openWay(
    target,
    refusingSend((request) => fetch(request), refuses),
  );
}

/** A way on a port of its own to a service that refuses every call with a record `refuses`. */
export function openWayWithoutSessions(
  target: string,
  refuses: (session: string) => boolean,
): OpenWay {
  return openWay(target, async (request) => {
    const body = request.method === "POST" ? await request.clone().text() : "{}";
    const { sessions = [] } = JSON.parse(body) as { readonly sessions?: readonly unknown[] };
    if (!sessions.some((each) => refuses(JSON.stringify(each)))) return await fetch(request);
    const error = { code: "invalid_request", message: REFUSAL, request_id: "req_x" };
    return Response.json({ error }, { status: 400 });
  });
}

/** A way to a service. */
interface OpenWay {
  readonly url: string;
  close(): Promise<void>;
}

function openWay(target: string, send: Send): OpenWay {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      for (const name of ["host", "connection", "content-length"]) headers.delete(name);
      const body = request.method === "POST" ? await request.text() : undefined;
      const { method } = request;
      return await send(
        new Request(`${target}${pathname}${search}`, {
          method,
          headers,
          ...(body !== undefined && { body }),
        }),
      );
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, close: () => server.stop(true) };
}
