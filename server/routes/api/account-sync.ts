import { Elysia } from "elysia";
import { invalidAt } from "../../../shared/errors.ts";
import {
  type ExchangeRequest,
  encodeExchangeAnswer,
  parseExchangeRequest,
} from "../../../shared/wire/exchange.ts";
import { answer } from "../../answer.ts";
import { emptyBody } from "../../read-json.ts";
import { withContext } from "../../request-context.ts";
import type { Services } from "../../services/services.ts";
import { readSyncBody } from "../project-sync.ts";
import { UNPARSED } from "../route.ts";

/** `POST /api/sync`: the replica exchange of the `user` and `global` documents alone. */
export function accountSyncRoutes({ sync }: Services) {
  return new Elysia({ prefix: "/sync" }).use(withContext).post(
    "",
    async ({ context, request }) => {
      const body = await readSyncBody(request);
      if (body === undefined) throw emptyBody();
      const exchange = withoutProject(parseExchangeRequest(body.value));
      const answered = await sync.exchange(context.caller, null, exchange, {
        createMissing: false,
      });
      return answer(context, encodeExchangeAnswer(answered));
    },
    UNPARSED,
  );
}

function withoutProject(exchange: ExchangeRequest): ExchangeRequest {
  if (exchange.documents.project === undefined) return exchange;
  throw invalidAt("/crdt/documents/project", "a project's document is synced under its own id");
}
