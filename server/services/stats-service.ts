import { type Kysely, sql } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { OWN_METADATA_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { compilable, compiled } from "../../shared/sqlite/compiled.ts";
import type { Stats } from "../../shared/wire/stats.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import { listProjects } from "../stores/project-store.ts";
import { countSessions } from "../stores/session-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import { mayReach } from "./access.ts";
import type { HostKnowledge } from "./host-knowledge.ts";
import type { ServiceStore } from "./service-store.ts";
import type { Caller, Services } from "./services.ts";

type Db = Kysely<ServiceTables>;

/**
 * The usage of everything that the caller reaches. The account's requests are those of `usage`, its
 * plan is that of `account`, or the caller's where nobody knows it.
 */
export function createStatsService(
  store: Pick<ServiceStore, "reader" | "settle" | "pause">,
  {
    usage,
    account,
    connections: read,
  }: Required<Pick<HostKnowledge, "usage" | "account" | "connections">>,
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
      const sizesOf = (names: readonly string[]) => sizesIn(store, caller, names);
      const sizes = {
        project: await sizesOf(projects),
        user: await sizesOf(ownLayers ? [`user/${caller.user}`] : []),
        global: await sizesOf(ownLayers ? ["global"] : []),
      };
      const { project, user, global } = sizes;
      const pairs = await read(db, caller.account);
      const connections = pairs.filter(([one, other]) => {
        return mayReach(caller, one) && mayReach(caller, other);
      });
      return {
        plan: (await account.get(caller)).plan ?? caller.plan,
        projects: projects.length,
        connections: connections.length,
        memories: {
          total: project.memories + user.memories + global.memories,
          project: project.memories,
          user: user.memories,
          global: global.memories,
        },
        sessions: await countSessions(db, { account: caller.account, projects: caller.boundTo }),
        storage_bytes: project.bytes + user.bytes + global.bytes,
        syncs: await syncs(db, caller, projects),
        requests: await usage.read(caller),
      } satisfies Stats;
    },
  };
}

/** What documents hold. */
interface Sizes {
  readonly memories: number;
  /** In UTF-8, of everything that the caller could read. */
  readonly bytes: number;
}

/** Document by document: between two the turn may end. */
async function sizesIn(
  { reader, pause }: Pick<ServiceStore, "reader" | "pause">,
  { account: owner }: Caller,
  names: readonly string[],
): Promise<Sizes> {
  let [memories, bytes] = [0, 0];
  for (const name of names) {
    await pause();
    const [sizes] = await findSizes(reader, { owner, name });
    memories += Number(sizes?.memories ?? 0);
    bytes += Number(sizes?.bytes ?? 0);
  }
  return { memories, bytes };
}

const findSizes = compiled(
  (db: Db, { owner, name }: { readonly owner: AccountId; readonly name: string }) =>
    compilable(
      db,
      sql<Sizes>`select
        (select count(*) from memories where document_id = documents.id) as memories,
        (select coalesce(sum(octet_length(key) + octet_length(value)), 0) from memories
          where document_id = documents.id)
        + (select coalesce(sum(octet_length(key) + octet_length(value)), 0)
          from metadata
          where document_id = documents.id
            and substr(key, 1, ${sql.lit(OWN_METADATA_PREFIX.length)})
              <> ${sql.lit(OWN_METADATA_PREFIX)})
        + (select coalesce(sum(octet_length(content)), 0) from texts
          where document_id = documents.id) as bytes
        from documents where owner = ${owner} and name = ${name}`,
    ),
);

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
