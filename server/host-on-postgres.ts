import { DatabaseClock } from "../shared/postgres/database-clock.ts";
import type { HostAppOptions, HostParts } from "./host-app.ts";
import { RequestLimits } from "./limits/request-limits.ts";
import { sharedCounts } from "./limits/shared-counts.ts";
import { SharedLimits } from "./limits/shared-limits.ts";
import type { HostStore } from "./stores/open-store.ts";
import { readClock } from "./stores/shared-count-store.ts";

/** What a server stands on that shares its database with others. */
export async function sharedParts(
  host: HostStore,
  { world: own, clock: by = "database", limits }: HostAppOptions,
): Promise<HostParts> {
  const clock = new DatabaseClock(own);
  if (by === "database") await clock.start(() => readClock(host.database.reader));
  const world = by === "database" ? clock.world : own;
  const counts = sharedCounts(host.database, by === "world" ? world : undefined);
  return {
    world,
    limits: limits === "off" ? new RequestLimits(world) : new SharedLimits(counts, world),
    host: {
      ...host,
      async close() {
        clock.stop();
        await host.close();
      },
    },
  };
}
