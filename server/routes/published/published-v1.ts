import { Elysia } from "elysia";
import { AppError } from "../../../shared/errors.ts";
import { parseSessionId } from "../../../shared/ids.ts";
import { LIMITS } from "../../../shared/limits.ts";
import { parseMemoryCreate } from "../../../shared/wire/memory.ts";
import { existingProjectId } from "../../../shared/wire/project-id.ts";
import { parseLongSync } from "../../../shared/wire/sync.ts";
import { answer } from "../../http/answer.ts";
import { readJson, readRequiredJson } from "../../http/read-json.ts";
import { withContext } from "../../http/request-context.ts";
import type { MemoryQuery, PageRequest, Services } from "../../services/services.ts";
import { deleteMemory } from "../common/memory-deletion.ts";
import { requireWrite, UNPARSED } from "../common/route.ts";
import { MEMORY_FIELDS, publishedFields, SYNC_FIELDS } from "./published-fields.ts";
import { publishedMemory, publishedProject } from "./published-views.ts";

/** The specification has no paging. */
export const WHOLE_LIST: PageRequest = { limit: undefined, cursor: undefined };

/** No parameter or header chooses the memories. */
const CURRENT: MemoryQuery = {
  ...WHOLE_LIST,
  projectId: undefined,
  headerProjectId: undefined,
  layer: undefined,
  q: undefined,
};

/** Variant A exactly as the specification has it. */
export function publishedV1Routes(services: Services) {
  return new Elysia({ prefix: "/v1" })
    .use(memoryRoutes(services))
    .use(projectRoutes(services))
    .use(sessionRoutes(services));
}

function memoryRoutes({ memories }: Services) {
  return new Elysia({ prefix: "/memories" })
    .use(withContext)
    .get("", async ({ context }) => {
      const { items, total } = await memories.list(context.caller, CURRENT);
      return answer(context, { memories: items.map(publishedMemory), total });
    })
    .post(
      "",
      async ({ context, request }) => {
        requireWrite(context.caller);
        const { value } = await readRequiredJson(request, context.pause);
        const body = publishedFields(value, MEMORY_FIELDS);
        const create = parseMemoryCreate(body);
        const created = await memories.create(context.caller, create);
        return answer(context, publishedMemory(created));
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

function projectRoutes({ projects, sync }: Services) {
  return new Elysia({ prefix: "/projects" })
    .use(withContext)
    .get("", async ({ context }) => {
      const { items } = await projects.list(context.caller, WHOLE_LIST);
      return answer(context, { projects: items.map(publishedProject) });
    })
    .get("/:id", async ({ context, params }) => {
      const { project } = await projects.get(context.caller, existingProjectId(params.id));
      return answer(context, publishedProject(project));
    })
    .post(
      "/:id/sync",
      async ({ context, request, params }) => {
        const body = await readJson(request, LIMITS.bodyBytes, { pause: context.pause });
        if (body === undefined) {
          await sync.read(context.caller, existingProjectId(params.id));
          return answer(context, {});
        }
        const fields = publishedFields(body.value, SYNC_FIELDS);
        const payload = await parseLongSync(fields, context.pause);
        const id = existingProjectId(params.id);
        await sync.apply(context.caller, id, { payload, createMissing: true });
        return answer(context, {});
      },
      UNPARSED,
    );
}

function sessionRoutes({ sessions }: Services) {
  return new Elysia({ prefix: "/sessions" })
    .use(withContext)
    .get("", async ({ context }) => {
      const query = { ...WHOLE_LIST, projectId: undefined };
      const { items } = await sessions.list(context.caller, query);
      return answer(context, { sessions: items.map(({ id }) => ({ id })) });
    })
    .get("/:id", async ({ context, params }) => {
      const asked = parseSessionId(params.id);
      if (asked === undefined) throw new AppError("not_found", "there is no such session");
      const { id } = await sessions.get(context.caller, asked);
      return answer(context, { id });
    });
}
