import type { ProjectList } from "../../../shared/wire/project.ts";
import { answerLongRead } from "../../http/answer.ts";
import { Query } from "../../http/query.ts";
import type { CallerContext } from "../../http/request-context.ts";
import type { Services } from "../../services/services.ts";

/** `GET …/projects` of either variant. */
export async function answerProjects(
  projects: Services["projects"],
  context: CallerContext,
  request: Request,
): Promise<Response> {
  const query = new Query(request.url);
  const asked = query.page();
  query.check();
  const page = await projects.list(context.caller, asked);
  const body = {
    projects: page.items,
    total: page.total,
    next_cursor: page.nextCursor,
  } satisfies Readonly<Record<keyof ProjectList, unknown>>;
  return answerLongRead(context, request, { body, link: query.linkToNext(page.nextCursor) });
}
