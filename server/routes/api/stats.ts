import { Elysia } from "elysia";
import { answerRead } from "../../http/answer.ts";
import { withContext } from "../../http/request-context.ts";
import type { Services } from "../../services/services.ts";

/**
 * `GET /api/projects/stats`. It hides no project, because every project's id begins with `proj_`.
 */
export function statsRoutes({ stats }: Services) {
  return new Elysia({ prefix: "/projects/stats" })
    .use(withContext)
    .get("", async ({ context, request }) =>
      answerRead(context, request, { body: await stats.get(context.caller) }),
    );
}
