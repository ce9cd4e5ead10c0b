import type { Send } from "../../daemon/sync/http-service.ts";

type Documents = Record<string, { update?: string; refused?: { message: string } }>;

/** What a refusing service says of an update. */
export const REFUSAL = "it is not welcome here";

/** A way to a service that refuses the updates that `refuses`, and serves all else as it is. */
export function refusingSend(send: Send, refuses: (update: Buffer) => boolean): Send {
  return async (request) => {
    const body = request.method === "POST" ? await request.clone().text() : "";
    if (!body.includes('"crdt"')) return await send(request);
    const parsed = JSON.parse(body) as { crdt: { documents: Documents } };
    const refused: Documents = {};
    for (const [layer, { update }] of Object.entries(parsed.crdt.documents)) {
      if (update === undefined || !refuses(Buffer.from(update, "base64"))) continue;
      delete parsed.crdt.documents[layer];
      refused[layer] = { refused: { message: REFUSAL } };
    }
    const response = await send(new Request(request, { body: JSON.stringify(parsed) }));
    const answer = (await response.json()) as { crdt?: { documents: Documents } };
    if (answer.crdt) Object.assign(answer.crdt.documents, refused);
    return Response.json(answer, { status: response.status });
  };
}

/** Refuses updates that hold any of these texts. */
export function holding(...texts: readonly string[]): (update: Buffer) => boolean {
  return (update) => texts.some((text) => update.includes(text));
}

/** The same on a port of its own. */
export function openRefusingService(
  target: string,
  refuses: (update: Buffer) => boolean,
): { readonly url: string; close(): Promise<void> } {
  const send = refusingSend((request) => fetch(request), refuses);
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
