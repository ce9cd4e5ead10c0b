import { Elysia } from "elysia";
import { invalidAt } from "../../../shared/errors.ts";
import { parseBatchRequest } from "../../../shared/wire/batch.ts";
import { type ExchangeRequest, encodeExchangeAnswer } from "../../../shared/wire/exchange.ts";
import { answer } from "../../http/answer.ts";
import { emptyBody } from "../../http/read-json.ts";
import { withContext } from "../../http/request-context.ts";
import type { Services } from "../../services/services.ts";
import { readSyncBody } from "../common/project-sync.ts";
import { UNPARSED } from "../common/route.ts";
import { exchangeParts } from "./project-parts.ts";

/** `POST /api/sync`: the replica exchange of `user` and `global`, and of several projects. */
export function accountSyncRoutes({ sync }: Services) {
  return new Elysia({ prefix: "/sync" }).use(withContext).post(
    "",
    async ({ context, request }) => {
      const body = await readSyncBody(request, context.pause);
      if (body === undefined) throw emptyBody();
      body.free();
      const batch = parseBatchRequest(body.value, body.binaries);
      const own = withoutProject(batch.exchange);
      const answered = await sync.exchange(context.caller, null, { ...own, createMissing: false });
      const { crdt } = encodeExchangeAnswer(answered);
      if (!batch.parts) return answer(context, { crdt });
      const projects = await exchangeParts(sync, context, batch);
      return answer(context, { crdt: { ...crdt, projects } });
    },
    UNPARSED,
  );
}

function withoutProject(exchange: ExchangeRequest): ExchangeRequest {
  if (exchange.documents.project === undefined) return exchange;
  throw invalidAt("/crdt/documents/project", "a project's document is synced under its own id");
}
