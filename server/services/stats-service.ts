import { type Kysely, sql } from "kysely";
import type { ProjectId } from "../../shared/ids.ts";
import { OWN_METADATA_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import type { Stats } from "../../shared/wire/stats.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import { listConnections } from "../stores/connection-store.ts";
import { countMemories } from "../stores/memory-store.ts";
import { listProjects } from "../stores/project-store.ts";
import { countSessions } from "../stores/session-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { mayReach } from "./access.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Caller, RequestUsage, Services } from "./services.ts";

type Db = Kysely<ServiceTables>;

/**
 * The usage of everything that the caller reaches. The account's requests are those of `usage`, its
 * plan is that of `account`, or the caller's where nobody knows it.
 */
export function createStatsService(
  store: Pick<ServiceStore, "reader" | "settle">,
  usage: RequestUsage,
  account: Services["account"],
): Services["stats"] {
  return {
    async get(caller) {
      await store.settle(caller.account);
      const db = store.reader;
      const filter = { account: caller.account, among: caller.boundTo };
      const projects = (await listProjects(db, filter, { from: undefined, limit: undefined })).map(
        ({ id }) => id,
      );
      const ownLayers = caller.boundTo === null;
      const memories = {
        project: await count(db, caller, projects),
        user: ownLayers ? await count(db, caller, [`user/${caller.user}`]) : 0,
        global: ownLayers ? await count(db, caller, ["global"]) : 0,
      };
      const pairs = await listConnections(db, caller.account);
      const connections = pairs.filter(([one, other]) => {
        return mayReach(caller, one) && mayReach(caller, other);
      });
      const documents = ownLayers ? [...projects, `user/${caller.user}`, "global"] : projects;
      return {
        plan: (await account.get(caller)).plan ?? caller.plan,
        projects: projects.length,
        connections: connections.length,
        memories: { total: memories.project + memories.user + memories.global, ...memories },
        sessions: await countSessions(db, { account: caller.account, projects: caller.boundTo }),
        storage_bytes: await storageBytes(db, caller, documents),
        syncs: await syncs(db, caller, projects),
        requests: await usage.read(caller),
      } satisfies Stats;
    },
  };
}

function count(db: Db, caller: Caller, documents: readonly string[]): Promise<number> {
  return countMemories(db, { account: caller.account, documents });
}

/** Size in UTF-8 bytes of everything that the caller could read. */
async function storageBytes(db: Db, caller: Caller, documents: readonly string[]): Promise<number> {
  if (documents.length === 0) return 0;
  const among = sql`select id from documents
    where owner = ${caller.account} and name in (${sql.join([...documents])})`;
  const { rows } = await sql<{ bytes: number | null }>`
    select
      (select coalesce(sum(octet_length(key) + octet_length(value)), 0) from memories
        where document_id in (${among}))
      + (select coalesce(sum(octet_length(key) + octet_length(value)), 0) from metadata
        where document_id in (${among})
          and substr(key, 1, ${OWN_METADATA_PREFIX.length}) <> ${OWN_METADATA_PREFIX})
      + (select coalesce(sum(octet_length(content)), 0) from texts
        where document_id in (${among})) as bytes`.execute(db);
  return Number(rows[0]?.bytes ?? 0);
}

async function syncs(
  db: Db,
  caller: Caller,
  projects: readonly ProjectId[],
): Promise<Stats["syncs"]> {
  if (projects.length === 0) return { total: 0, last_synced_at: null };
  const { total, last } = await db
    .selectFrom("documents")
    .select((select) => [
      select.fn.sum<number>("sync_count").as("total"),
      select.fn.max("last_synced_at").as("last"),
    ])
    .where("owner", "=", caller.account)
    .where("name", "in", [...projects])
    .executeTakeFirstOrThrow();
  return { total: Number(total), last_synced_at: last === null ? null : timestampOf(last) };
}
