import { type Kysely, sql } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { getProjectOf } from "../../shared/replica/document/address.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import type { Remote, TokenPlace } from "./remote.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/**
 * The home's remotes in the order in which they were added; none while everything follows the
 * environment.
 */
export async function listRemotes(db: Db): Promise<Remote[]> {
  const rows = await db
    .selectFrom("remotes")
    .selectAll()
    .orderBy("added_at")
    .orderBy("name")
    .execute();
  return rows.map((row) => ({
    name: row.name,
    url: row.url ?? undefined,
    account: row.account,
    tokenPlace: row.token_place ?? undefined,
    isDefault: row.is_default === 1,
  }));
}

/** Whether an account is one of a named service, and not of the embedded one. */
export async function isOfService(db: Db, account: AccountId): Promise<boolean> {
  const remotes = await listRemotes(db);
  return remotes.some((each) => each.account === account && each.url !== undefined);
}

/** Adds a remote; durable with its transaction's commit. */
export async function insertRemote(
  db: Db,
  { name, url, account }: Pick<Remote, "name" | "url" | "account">,
  now: number,
): Promise<void> {
  await db
    .insertInto("remotes")
    .values({
      name,
      url: url ?? null,
      account,
      token_place: null,
      is_default: 0,
      added_at: now,
    })
    .execute();
}

/** Removes a remote. What its account owns stays in the replica. */
export async function deleteRemote(db: Db, name: string): Promise<void> {
  const gone = db.selectFrom("remotes").select("account").where("name", "=", name);
  await db.deleteFrom("audiences").where("account", "in", gone).execute();
  await db.deleteFrom("remotes").where("name", "=", name).execute();
}

/** Makes one remote the default, and no other. */
export async function setDefaultRemote(db: Db, name: string): Promise<void> {
  await db.updateTable("remotes").set({ is_default: 0 }).execute();
  await db.updateTable("remotes").set({ is_default: 1 }).where("name", "=", name).execute();
}

/** Stores where a remote's token is; undefined: nowhere. */
export async function setTokenPlace(
  db: Db,
  name: string,
  place: TokenPlace | undefined,
): Promise<void> {
  await db
    .updateTable("remotes")
    .set({ token_place: place ?? null })
    .where("name", "=", name)
    .execute();
}

/** Stores under which address a remote is called from now on. */
export async function setAddress(db: Db, name: string, url: string): Promise<void> {
  await db.updateTable("remotes").set({ url }).where("name", "=", name).execute();
}

/**
 * The account that a project is bound to: the owner of its document. The schema allows one such
 * document in a home. Undefined for a project that the home does not have.
 */
export async function findBinding(db: Db, project: ProjectId): Promise<AccountId | undefined> {
  const [row] = await findOwner(db, { project });
  return row?.owner;
}

/** The condition of the index `documents_bound_once`, word for word, so that SQLite uses it. */
const IS_PROJECT = sql<boolean>`name >= 'proj_' and name < 'proj\`'`;

const findOwner = compiled((db: Db, { project }: { readonly project: string }) =>
  db.selectFrom("documents").select("owner").where("name", "=", project).where(IS_PROJECT),
);

/** Every project in the home with the account that it is bound to. */
export async function listBindings(db: Db): Promise<Map<ProjectId, AccountId>> {
  const rows = await db
    .selectFrom("documents")
    .select(["name", "owner"])
    .where(IS_PROJECT)
    .orderBy("id")
    .execute();
  return new Map(rows.map(({ name, owner }) => [getProjectOf(name), owner]));
}
