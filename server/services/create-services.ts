// What may be done, by whom: routes call services, and services call stores.

import type { World } from "../../shared/world.ts";
import { listConnections } from "../stores/connection-store.ts";
import { createConnectionService } from "./connection-service.ts";
import type { HostKnowledge } from "./host-knowledge.ts";
import { createLiveService } from "./live-service.ts";
import { createMemoryService } from "./memory-service.ts";
import { dropOldAnswers } from "./once.ts";
import { createProjectService } from "./project-service.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Services } from "./services.ts";
import { createSessionService } from "./session-service.ts";
import { createStatsService } from "./stats-service.ts";
import { createSyncService } from "./sync-service.ts";

/** Every operation of the interface over one replica. */
export function createServices(
  store: ServiceStore,
  world: World,
  { usage, account, withholding, connections = listConnections }: HostKnowledge,
): Services {
  store.onSweep(dropOldAnswers);
  return {
    memories: createMemoryService(store, world, withholding),
    projects: createProjectService(store, world, { withholding, connections }),
    sync: createSyncService(store, { world, withholding }),
    connections: createConnectionService(store),
    sessions: createSessionService(store),
    stats: createStatsService(store, { usage, account, connections }),
    account,
    live: createLiveService(store, world),
  };
}
