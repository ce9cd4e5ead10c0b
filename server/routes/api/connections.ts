import { Elysia } from "elysia";
import {
  type ConnectAnswer,
  connectRequestOf,
  parseConnectRequest,
} from "../../../shared/wire/connection.ts";
import { answer } from "../../http/answer.ts";
import { onceOf } from "../../http/idempotency-key.ts";
import { Query } from "../../http/query.ts";
import { readRequiredJson } from "../../http/read-json.ts";
import { withContext } from "../../http/request-context.ts";
import type { Services } from "../../services/services.ts";
import { requireWrite, UNPARSED } from "../common/route.ts";

/** `/api/projects/connect`: connects two projects, and undoes it. */
export function connectionRoutes({ connections }: Services) {
  return new Elysia({ prefix: "/projects/connect" })
    .use(withContext)
    .post(
      "",
      async ({ context, request }) => {
        requireWrite(context.caller);
        const body = await readRequiredJson(request, context.pause);
        const asked = parseConnectRequest(body.value);
        const once = onceOf(request, body);
        const connection = await connections.connect(context.caller, asked, once);
        return answer(context, { connection } satisfies ConnectAnswer);
      },
      UNPARSED,
    )
    .delete(
      "",
      async ({ context, request }) => {
        requireWrite(context.caller);
        const query = new Query(request.url);
        const ids = [query.required("project_id"), query.required("target_project_id")] as const;
        query.check();
        const asked = connectRequestOf(...ids, "target_project_id");
        const connection = await connections.disconnect(context.caller, asked);
        return answer(context, { connection } satisfies ConnectAnswer);
      },
      UNPARSED,
    );
}
