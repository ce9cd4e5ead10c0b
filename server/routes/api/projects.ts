import { Elysia } from "elysia";
import {
  type ProjectDeleted,
  type ProjectWithMemories,
  parseProjectPut,
} from "../../../shared/wire/project.ts";
import { existingProjectId } from "../../../shared/wire/project-id.ts";
import { answer, answerLongRead } from "../../http/answer.ts";
import { onceOf } from "../../http/idempotency-key.ts";
import { readRequiredJson } from "../../http/read-json.ts";
import { withContext } from "../../http/request-context.ts";
import type { ProjectDetails, Services } from "../../services/services.ts";
import { answerProjects } from "../common/project-list.ts";
import { requireWrite, UNPARSED } from "../common/route.ts";

/** `/api/projects`: the list, one project with its memories, create or update, delete. */
export function apiProjectRoutes({ projects }: Services) {
  return new Elysia({ prefix: "/projects" })
    .use(withContext)
    .get("", ({ context, request }) => answerProjects(projects, context, request))
    .get("/:id", async ({ context, request, params }) => {
      const found = await projects.get(context.caller, existingProjectId(params.id));
      return answerLongRead(context, request, { body: withMemories(found) });
    })
    .post(
      "",
      async ({ context, request }) => {
        requireWrite(context.caller);
        const body = await readRequiredJson(request, context.pause);
        const put = parseProjectPut(body.value);
        const once = onceOf(request, body);
        return answer(context, await projects.put(context.caller, put, once));
      },
      UNPARSED,
    )
    .delete(
      "/:id",
      async ({ context, params }) => {
        requireWrite(context.caller);
        const id = existingProjectId(params.id);
        await projects.remove(context.caller, id);
        return answer(context, { id, deleted: true } satisfies ProjectDeleted);
      },
      UNPARSED,
    );
}

function withMemories(found: ProjectDetails): ProjectWithMemories {
  return {
    ...found.project,
    claude_md_content: found.claudeMdContent,
    memories: found.memories.map(({ key, content, id, created_at, updated_at }) => ({
      key,
      value: content,
      id,
      created_at,
      updated_at,
    })),
    connected_projects: [...found.connected],
  };
}
