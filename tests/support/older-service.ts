import type { Send } from "../../daemon/service/http-service.ts";

/** A way to a service as an older one, which does not know exchanges about several projects. */
export function olderSend(send: Send): Send {
  return async (request) => {
    const isExchange = request.method === "POST" && new URL(request.url).pathname === "/api/sync";
    if (!isExchange) return await send(request);
    const body = JSON.parse(await request.clone().text()) as { crdt?: { projects?: unknown } };
    if (body.crdt?.projects === undefined) return await send(request);
    delete body.crdt.projects;
    return await send(new Request(request, { body: JSON.stringify(body) }));
  };
}
