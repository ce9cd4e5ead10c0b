import type { Kysely } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import type { ServiceTables } from "./tables.ts";

type Db = Kysely<ServiceTables>;

/** Two different projects, the smaller id first, so that a pair is stored once. */
export type ProjectPair = readonly [ProjectId, ProjectId];

/** The pair as it is stored, whatever the order of the arguments. */
export function pairOf(one: ProjectId, other: ProjectId): ProjectPair {
  return one < other ? [one, other] : [other, one];
}

/**
 * Connects a pair; nothing changes if it is connected already. Resolves to when it was connected.
 */
export async function addConnection(
  db: Db,
  account: AccountId,
  { pair, now }: { readonly pair: ProjectPair; readonly now: number },
): Promise<number> {
  await db
    .insertInto("connections")
    .values({ account, project_a: pair[0], project_b: pair[1], created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await findConnection(db, account, pair)) ?? now;
}

/** When a pair was connected, in milliseconds since the Unix epoch. */
export async function findConnection(
  db: Db,
  account: AccountId,
  pair: ProjectPair,
): Promise<number | undefined> {
  const row = await db
    .selectFrom("connections")
    .select("created_at")
    .where("account", "=", account)
    .where("project_a", "=", pair[0])
    .where("project_b", "=", pair[1])
    .executeTakeFirst();
  return row?.created_at;
}

/** Undoes a connection, if there is one; durable with its transaction's commit. */
export async function removeConnection(
  db: Db,
  account: AccountId,
  pair: ProjectPair,
): Promise<void> {
  await db
    .deleteFrom("connections")
    .where("account", "=", account)
    .where("project_a", "=", pair[0])
    .where("project_b", "=", pair[1])
    .execute();
}

/** How a host knows which projects of an account are connected. */
export type ReadConnections = (db: Db, account: AccountId) => Promise<readonly ProjectPair[]>;

/** The account's connections, in the order of their ids. */
export async function listConnections(db: Db, account: AccountId): Promise<ProjectPair[]> {
  const rows = await db
    .selectFrom("connections")
    .select(["project_a", "project_b"])
    .where("account", "=", account)
    .orderBy("project_a")
    .orderBy("project_b")
    .execute();
  return rows.map((row) => [row.project_a, row.project_b]);
}

/** What a project is connected to, in the order of their ids. */
export function connectedTo(pairs: readonly ProjectPair[], id: ProjectId): ProjectId[] {
  const others = pairs.flatMap(([one, other]) => {
    if (one === id) return [other];
    return other === id ? [one] : [];
  });
  return others.sort();
}

/** The same for every project that is connected to another. */
export function connectedByProject(
  pairs: readonly ProjectPair[],
): ReadonlyMap<ProjectId, readonly ProjectId[]> {
  const connected = new Map<ProjectId, ProjectId[]>();
  const add = (id: ProjectId, other: ProjectId) => {
    const known = connected.get(id);
    if (known) known.push(other);
    else connected.set(id, [other]);
  };
  for (const [one, other] of pairs) {
    add(one, other);
    add(other, one);
  }
  for (const others of connected.values()) others.sort();
  return connected;
}
