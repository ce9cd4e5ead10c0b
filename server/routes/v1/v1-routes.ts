import { Elysia } from "elysia";
import type { Services } from "../../services/services.ts";
import { projectSyncRoutes } from "../common/project-sync.ts";
import { memoryRoutes } from "./memories.ts";
import { v1ProjectRoutes } from "./projects.ts";
import { sessionRoutes } from "./sessions.ts";

/** Variant A of the published interface. */
export function v1Routes(services: Services) {
  return new Elysia({ prefix: "/v1" })
    .use(memoryRoutes(services))
    .use(v1ProjectRoutes(services))
    .use(projectSyncRoutes(services, { createMissing: true, readWithoutBody: true }))
    .use(sessionRoutes(services));
}
