import type { Kysely } from "kysely";
import type { Account } from "../../shared/wire/account.ts";
import { digestsIn } from "./audience-store.ts";
import { LOCAL_ACCOUNT } from "./local-account.ts";
import { EMBEDDED, type Remote, UNKNOWN_SERVICE } from "./remote.ts";
import { listRemotes } from "./remote-store.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

const NO_ADDRESS = [EMBEDDED, UNKNOWN_SERVICE];

/**
 * The address of the service with which a home was last synced that follows `MEMSYNC_URL`.
 * Undefined: with the embedded one, or with none, or its remotes have names.
 */
async function findSyncedService(db: Db): Promise<string | undefined> {
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

/** Whose the memories of a remote's account are, and which service told it. */
export interface Owner extends Pick<Account, "name" | "user"> {
  readonly service: string;
  /** Digests of the tokens that were told to be of this user, the last one first. */
  readonly tokens: readonly string[];
}

/**
 * Whose the memories of a remote's account are, as far as that was told: by the service that told
 * it last, whatever its address is, for no two remotes have the same account. What the embedded
 * service has is somebody's if it was a service's before. Undefined: nobody has told it.
 */
export async function findOwner(
  db: Db,
  { account }: Pick<Remote, "account">,
): Promise<Owner | undefined> {
  const row = await db
    .selectFrom("audiences")
    .select(["service", "name", "token_user as user", "token"])
    .where("account", "=", account)
    .where((where) =>
      where.or([where("name", "is not", null), where("token_user", "is not", null)]),
    )
    .orderBy("heard_at", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row) return undefined;
  const { token, ...owner } = row;
  return { ...owner, tokens: digestsIn(token) };
}
