import { Elysia } from "elysia";
import type { ProjectWithText } from "../../../shared/wire/project.ts";
import { existingProjectId } from "../../../shared/wire/project-id.ts";
import { answerRead } from "../../http/answer.ts";
import { withContext } from "../../http/request-context.ts";
import type { Services } from "../../services/services.ts";
import { answerProjects } from "../common/project-list.ts";

/** `/v1/projects`: the list, and one project with its description document. */
export function v1ProjectRoutes({ projects }: Services) {
  return new Elysia({ prefix: "/projects" })
    .use(withContext)
    .get("", ({ context, request }) => answerProjects(projects, context, request))
    .get("/:id", async ({ context, request, params }) => {
      const found = await projects.get(context.caller, existingProjectId(params.id));
      const body: ProjectWithText = {
        ...found.project,
        claude_md_content: found.claudeMdContent,
      };
      return answerRead(context, request, { body });
    });
}
