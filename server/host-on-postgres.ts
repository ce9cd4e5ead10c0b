import { DatabaseClock } from "../shared/postgres/database-clock.ts";
import type { World } from "../shared/world.ts";
import type { HostAppOptions, HostParts } from "./host-parts.ts";
import { RequestLimits } from "./limits/request-limits.ts";
import { dropOldCounts, sharedCounts } from "./limits/shared-counts.ts";
import { SharedLimits } from "./limits/shared-limits.ts";
import { openPostgresStore } from "./stores/open-postgres-store.ts";
import { readClock } from "./stores/shared-count-store.ts";

/** What a server stands on that shares its database with others. */
export async function openSharedParts(options: HostAppOptions): Promise<HostParts> {
  const { path, world: own, log, clock: by = "database" } = options;
  const store = await openPostgresStore(path, own, { clock: by, log });
  const clock = new DatabaseClock(own);
  if (by === "database") await clock.start(() => readClock(store.database.reader));
  const world: World = by === "database" ? clock.world : own;
  store.store.onSweep(dropOldCounts);
  const counts = sharedCounts(store.database, by === "world" ? world : undefined);
  return {
    world,
    limits: options.limits === "off" ? new RequestLimits(world) : new SharedLimits(counts, world),
    host: {
      ...store,
      async close() {
        clock.stop();
        await store.close();
      },
    },
  };
}
