import type { ReplicaStore } from "../../shared/replica/store.ts";
import type { World } from "../../shared/world.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { createConnectionService } from "./connection-service.ts";
import { createLiveService } from "./live-service.ts";
import { createMemoryService } from "./memory-service.ts";
import { createProjectService } from "./project-service.ts";
import type { RequestUsage, Services } from "./services.ts";
import { createSessionService } from "./session-service.ts";
import { createStatsService } from "./stats-service.ts";
import { createSyncService } from "./sync-service.ts";
import type { Withholding } from "./withholding.ts";

/** Every operation of the interface over one replica; `withholding` only where there is any. */
export function createServices(
  store: ReplicaStore<ServiceTables>,
  world: World,
  usage: RequestUsage,
  withholding?: Withholding,
): Services {
  return {
    memories: createMemoryService(store, world, withholding),
    projects: createProjectService(store, world, withholding),
    sync: createSyncService(store, withholding),
    connections: createConnectionService(store),
    sessions: createSessionService(store),
    stats: createStatsService(store, usage),
    live: createLiveService(store),
  };
}
