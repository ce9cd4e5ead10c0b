import type { Kysely } from "kysely";
import { RequestLimits } from "../../server/limits/request-limits.ts";
import type { Caller, Services } from "../../server/services/services.ts";
import { createSessionService } from "../../server/services/session-service.ts";
import { createStatsService } from "../../server/services/stats-service.ts";
import type { ReadConnections } from "../../server/stores/connection-store.ts";
import type { AccountId } from "../../shared/ids.ts";
import { NO_PAUSE } from "../../shared/turns.ts";
import type { Account } from "../../shared/wire/account.ts";
import type { World } from "../../shared/world.ts";
import { LOCAL_USER } from "../home/local-account.ts";
import type { DaemonTables } from "../home/tables.ts";

/** An account's part of the replica, and its plan as far as the service has told it. */
export interface KnownAccount {
  readonly account: AccountId;
  readonly plan?: Account["plan"];
}

/**
 * What the gateway would answer about an account's part of the replica, without a running daemon.
 */
export function readServices(
  db: Kysely<DaemonTables>,
  world: World,
  { account, plan = null }: KnownAccount,
) {
  const caller: Caller = {
    account,
    user: LOCAL_USER,
    tokenId: "local",
    plan: "pro",
    canWrite: false,
    boundTo: null,
  };
  // Only reads, so nothing is kept to be written.
  const store = { reader: db as never, settle: async () => {}, pause: NO_PAUSE };
  const limits = new RequestLimits(world);
  const accounts = { get: async () => ({ name: null, plan, users: null, user: null }) };
  const sessions = createSessionService(store);
  return {
    /** `connections`: how the home knows them. */
    stats: (connections: ReadConnections) =>
      createStatsService(store, { usage: limits, account: accounts, connections }).get(caller),
    sessions: (query: Parameters<Services["sessions"]["list"]>[1]) => sessions.list(caller, query),
  };
}
