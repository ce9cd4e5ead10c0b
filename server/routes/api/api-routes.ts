import { Elysia } from "elysia";
import type { Services } from "../../services/services.ts";
import { projectSyncRoutes } from "../common/project-sync.ts";
import { accountRoutes } from "./account.ts";
import { accountSyncRoutes } from "./account-sync.ts";
import { connectionRoutes } from "./connections.ts";
import { liveRoutes } from "./live.ts";
import { apiProjectRoutes } from "./projects.ts";
import { statsRoutes } from "./stats.ts";

/** Variant B of the published interface, and what memsync adds to it. */
export function apiRoutes(services: Services) {
  return new Elysia({ prefix: "/api" })
    .use(apiProjectRoutes(services))
    .use(projectSyncRoutes(services, { createMissing: false, readWithoutBody: false }))
    .use(connectionRoutes(services))
    .use(statsRoutes(services))
    .use(accountRoutes(services))
    .use(accountSyncRoutes(services))
    .use(liveRoutes());
}
