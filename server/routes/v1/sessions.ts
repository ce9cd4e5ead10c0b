import { Elysia } from "elysia";
import { AppError } from "../../../shared/errors.ts";
import { parseSessionId } from "../../../shared/ids.ts";
import type { SessionList } from "../../../shared/wire/session.ts";
import { answerRead } from "../../http/answer.ts";
import { existingIfGiven, Query } from "../../http/query.ts";
import { withContext } from "../../http/request-context.ts";
import type { Services, SessionQuery } from "../../services/services.ts";

/** `/v1/sessions`: the list, and one session. */
export function sessionRoutes({ sessions }: Services) {
  return new Elysia({ prefix: "/sessions" })
    .use(withContext)
    .get("", async ({ context, request }) => {
      const query = new Query(request.url);
      const page = await sessions.list(context.caller, sessionQuery(query));
      const body = {
        sessions: page.items,
        total: page.total,
        next_cursor: page.nextCursor,
      } satisfies Readonly<Record<keyof SessionList, unknown>>;
      return answerRead(context, request, { body, link: query.linkToNext(page.nextCursor) });
    })
    .get("/:id", async ({ context, request, params }) => {
      const id = parseSessionId(params.id);
      if (id === undefined) throw new AppError("not_found", "there is no such session");
      return answerRead(context, request, { body: await sessions.get(context.caller, id) });
    });
}

function sessionQuery(query: Query): SessionQuery {
  const page = query.page();
  const projectId = query.text("project_id");
  query.check();
  return { ...page, projectId: existingIfGiven(projectId) };
}
