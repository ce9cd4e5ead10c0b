import type { Kysely } from "kysely";
import { LOCAL_ACCOUNT } from "./local-account.ts";
import { EMBEDDED, UNKNOWN_SERVICE } from "./remote.ts";
import { listRemotes } from "./remote-store.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

const NO_ADDRESS = [EMBEDDED, UNKNOWN_SERVICE];

/**
 * The address of the service with which a home was last synced that follows `MEMSYNC_URL`.
 * Undefined: with the embedded one, or with none, or its remotes have names.
 */
export async function findSyncedService(db: Db): Promise<string | undefined> {
  if ((await listRemotes(db)).length > 0) return undefined;
  const row = await db
    .selectFrom("sync_positions")
    .select("service")
    .where("service", "not in", NO_ADDRESS)
    .orderBy("service")
    .limit(1)
    .executeTakeFirst();
  return row?.service;
}

/**
 * The same, also after a daemon was started without the variable: what such a home has is sent to
 * that service as soon as the variable is back.
 */
export async function findFormerService(db: Db): Promise<string | undefined> {
  const synced = await findSyncedService(db);
  if (synced !== undefined || (await listRemotes(db)).length > 0) return synced;
  const row = await db
    .selectFrom("audiences")
    .select("service")
    .where("account", "=", LOCAL_ACCOUNT)
    .where("service", "not in", NO_ADDRESS)
    .where("heard_at", "is not", null)
    .orderBy("heard_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.service;
}
