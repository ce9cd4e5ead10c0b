import type { Kysely } from "kysely";
import { RequestLimits } from "../server/limits/request-limits.ts";
import type { Caller, Services } from "../server/services/services.ts";
import { createSessionService } from "../server/services/session-service.ts";
import { createStatsService } from "../server/services/stats-service.ts";
import type { World } from "../shared/world.ts";
import { LOCAL_ACCOUNT, LOCAL_USER } from "./local-account.ts";
import type { DaemonTables } from "./tables.ts";

const LOCAL_CALLER: Caller = {
  account: LOCAL_ACCOUNT,
  user: LOCAL_USER,
  tokenId: "local",
  plan: "pro",
  canWrite: false,
  boundTo: null,
};

/** What the gateway would answer about the replica, read without a daemon. */
export function readServices(db: Kysely<DaemonTables>, world: World) {
  const store = { reader: db as never };
  const limits = new RequestLimits(world);
  const stats = createStatsService(store, limits);
  const sessions = createSessionService(store);
  return {
    stats: () => stats.get(LOCAL_CALLER),
    sessions: (query: Parameters<Services["sessions"]["list"]>[1]) =>
      sessions.list(LOCAL_CALLER, query),
  };
}
