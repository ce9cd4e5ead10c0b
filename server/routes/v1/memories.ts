import { Elysia } from "elysia";
import { type Memory, type MemoryList, parseMemoryCreate } from "../../../shared/wire/memory.ts";
import { answer, createAnswerAgain } from "../../http/answer.ts";
import { onceOf } from "../../http/idempotency-key.ts";
import { existingIfGiven, Query } from "../../http/query.ts";
import { readRequiredJson } from "../../http/read-json.ts";
import { withContext } from "../../http/request-context.ts";
import type { MemoryQuery, Page, Services } from "../../services/services.ts";
import { deleteMemory } from "../common/memory-deletion.ts";
import { requireWrite, UNPARSED } from "../common/route.ts";

/** `/v1/memories`: list and search, create, delete. */
export function memoryRoutes({ memories }: Services) {
  const answerPage = createAnswerAgain(bodyOf);
  return new Elysia({ prefix: "/memories" })
    .use(withContext)
    .get("", async ({ context, request }) => {
      const query = new Query(request.url);
      const page = await memories.list(context.caller, memoryQuery(query, request.headers));
      return answerPage(context, request, {
        subject: page,
        link: query.linkToNext(page.nextCursor),
      });
    })
    .post(
      "",
      async ({ context, request }) => {
        requireWrite(context.caller);
        const body = await readRequiredJson(request, context.pause);
        const create = parseMemoryCreate(body.value);
        const once = onceOf(request, body);
        const options = { headerProjectId: headerProjectId(request.headers), once };
        return answer(context, await memories.create(context.caller, create, options));
      },
      UNPARSED,
    )
    .delete(
      "/:id",
      async ({ context, params }) =>
        answer(context, await deleteMemory({ memories }, context.caller, params.id)),
      UNPARSED,
    );
}

function bodyOf({ items, total, nextCursor }: Page<Memory>) {
  return { memories: items, total, next_cursor: nextCursor } satisfies Readonly<
    Record<keyof MemoryList, unknown>
  >;
}

function memoryQuery(query: Query, headers: Headers): MemoryQuery {
  const page = query.page();
  const layer = query.layer();
  const q = query.search();
  const projectId = query.text("project_id");
  query.check();
  return {
    ...page,
    layer,
    q,
    projectId: existingIfGiven(projectId),
    headerProjectId: headerProjectId(headers),
  };
}

function headerProjectId(headers: Headers) {
  return existingIfGiven(headers.get("x-project-id"));
}
