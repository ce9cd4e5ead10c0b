import { Elysia } from "elysia";
import { parseConnectRequest } from "../../../shared/wire/connection.ts";
import { parseProjectPut } from "../../../shared/wire/project.ts";
import { existingProjectId } from "../../../shared/wire/project-id.ts";
import { parseLongSync } from "../../../shared/wire/sync.ts";
import { answer } from "../../http/answer.ts";
import { readRequiredJson } from "../../http/read-json.ts";
import { withContext } from "../../http/request-context.ts";
import type { Services } from "../../services/services.ts";
import { requireWrite, UNPARSED } from "../common/route.ts";
import { publishedFields, SYNC_FIELDS } from "./published-fields.ts";
import { WHOLE_LIST } from "./published-v1.ts";
import { publishedProject, publishedProjectWithMemories } from "./published-views.ts";

/** Variant B exactly as the specification has it. */
export function publishedApiRoutes(services: Services) {
  return new Elysia({ prefix: "/api/projects" })
    .use(statsRoutes(services))
    .use(connectRoutes(services))
    .use(projectRoutes(services));
}

function projectRoutes({ projects, sync }: Services) {
  return new Elysia()
    .use(withContext)
    .get("", async ({ context }) => {
      const { items } = await projects.list(context.caller, WHOLE_LIST);
      return answer(context, { projects: items.map(publishedProject) });
    })
    .post(
      "",
      async ({ context, request }) => {
        requireWrite(context.caller);
        const { value } = await readRequiredJson(request, context.pause);
        const put = parseProjectPut(value);
        return answer(context, publishedProject(await projects.put(context.caller, put)));
      },
      UNPARSED,
    )
    .get("/:id", async ({ context, params }) => {
      const found = await projects.get(context.caller, existingProjectId(params.id));
      return answer(context, publishedProjectWithMemories(found));
    })
    .post(
      "/:id/sync",
      async ({ context, request, params }) => {
        const { value } = await readRequiredJson(request, context.pause);
        const body = publishedFields(value, SYNC_FIELDS);
        const payload = await parseLongSync(body, context.pause);
        const id = existingProjectId(params.id);
        await sync.apply(context.caller, id, { payload, createMissing: false });
        return answer(context, {});
      },
      UNPARSED,
    );
}

function connectRoutes({ connections }: Services) {
  return new Elysia({ prefix: "/connect" }).use(withContext).post(
    "",
    async ({ context, request }) => {
      requireWrite(context.caller);
      const { value } = await readRequiredJson(request, context.pause);
      const asked = parseConnectRequest(value);
      await connections.connect(context.caller, asked);
      return answer(context, {});
    },
    UNPARSED,
  );
}

function statsRoutes({ stats }: Services) {
  return new Elysia({ prefix: "/stats" })
    .use(withContext)
    .get("", async ({ context }) => answer(context, await stats.get(context.caller)));
}
