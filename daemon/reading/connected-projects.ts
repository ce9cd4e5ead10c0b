import type { Kysely } from "kysely";
import { type AccountId, type ProjectId, parseProjectId } from "../../shared/ids.ts";
import { CONNECTED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { LOCAL_ACCOUNT } from "../home/local-account.ts";
import { findBinding } from "../home/remote-store.ts";
import type { DaemonTables } from "../home/tables.ts";

type Db = Kysely<ReplicaTables>;

/** The projects that one is connected to, by id. */
export interface ConnectedTo {
  /** Those whose memories this home has. */
  readonly here: readonly ProjectId[];
  /** Those of which it has nothing: no folder of theirs was ever linked here. */
  readonly elsewhere: readonly ProjectId[];
}

/**
 * What a project is connected to. Where the home has both documents, both have to say so, and both
 * have to be bound to one remote: whoever can write into one project must not bring another one of
 * this machine into view.
 */
export async function listConnected(
  db: Kysely<DaemonTables>,
  project: ProjectId,
): Promise<ConnectedTo> {
  const account = (await findBinding(db, project)) ?? LOCAL_ACCOUNT;
  const pairs = await listConnectedPairs(narrowTables(db), account);
  const others = pairs.flatMap(({ project: id, other, isHere }) => {
    return id === project ? [{ other, isHere }] : [];
  });
  const idsOf = (wanted: boolean) =>
    others.flatMap(({ other, isHere }) => (isHere === wanted ? [other] : []));
  return { here: idsOf(true), elsewhere: idsOf(false) };
}

/** Two projects that are connected, as the first one's document says. */
interface ConnectedPair {
  readonly project: ProjectId;
  readonly other: ProjectId;
  /** Whether the other's document is here, and says so as well. */
  readonly isHere: boolean;
}

/** The connections of a remote's account, by both ids; one between two documents comes twice. */
async function listConnectedPairs(db: Db, account: AccountId): Promise<ConnectedPair[]> {
  const rows = await db
    .selectFrom("metadata")
    .innerJoin("documents", "documents.id", "metadata.document_id")
    .select(["documents.name", "metadata.key"])
    .where("documents.owner", "=", account)
    .where("metadata.key", "like", `${CONNECTED_PREFIX}%`)
    .orderBy("documents.name")
    .orderBy("metadata.key")
    .execute();
  const said = rows.flatMap(({ name, key }) => {
    const [project, other] = [name, key.slice(CONNECTED_PREFIX.length)].map(parseProjectId);
    return project && other ? [{ project, other }] : [];
  });
  const known = await knownAmong(
    db,
    said.map(({ other }) => other),
  );
  const both = new Set(said.map(({ project, other }) => `${project} ${other}`));
  return said.flatMap(({ project, other }): ConnectedPair[] => {
    if (!known.has(other)) return [{ project, other, isHere: false }];
    return both.has(`${other} ${project}`) ? [{ project, other, isHere: true }] : [];
  });
}

/** The same as a host's services read them: each once, with the smaller id first. */
export async function readConnections<Tables extends ReplicaTables>(
  db: Kysely<Tables>,
  account: AccountId,
): Promise<(readonly [ProjectId, ProjectId])[]> {
  const pairs = await listConnectedPairs(narrowTables(db), account);
  const sorted = pairs.map(({ project, other }) => {
    return project < other ? ([project, other] as const) : ([other, project] as const);
  });
  return [...new Map(sorted.map((pair) => [pair.join(" "), pair])).values()];
}

/** Those of which the home has a document, of whatever remote. */
async function knownAmong(db: Db, ids: readonly ProjectId[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom("documents").select("name").where("name", "in", ids).execute();
  return new Set(rows.map(({ name }) => name));
}
