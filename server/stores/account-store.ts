import type { Kysely, Selectable } from "kysely";
import { type AccountId, asAccountId, type ProjectId, type UserId } from "../../shared/ids.ts";
import { parseStored } from "../../shared/json.ts";
import type { HostTables } from "./account-tables.ts";

type Db = Kysely<HostTables>;

/** Times are milliseconds since the Unix epoch. */
export interface AccountRow {
  readonly id: AccountId;
  readonly name: string;
  readonly plan: "pro" | "team";
  readonly createdAt: number;
}

/** A user of one account. The name is unique within it. */
export interface User {
  readonly id: UserId;
  readonly accountId: AccountId;
  readonly name: string;
}

/** What is kept of a user. */
export interface UserRecord extends User {
  readonly createdAt: number;
}

/** What is kept of a token. */
export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly scope: "read" | "write";
  readonly projects: readonly ProjectId[] | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
  readonly user: User;
  readonly account: AccountRow;
}

const ACCOUNT = ["id", "name", "plan", "created_at"] as const;
const USER = ["id", "account_id", "name", "created_at"] as const;

/** False: its name is taken. Durable with its transaction's commit. */
export async function insertAccount(db: Db, account: AccountRow): Promise<boolean> {
  const { id, name, plan, createdAt } = account;
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("accounts")
    .values({ id, name, plan, created_at: createdAt })
    .onConflict((taken) => taken.column("name").doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** In the order of their names. */
export async function listAccounts(db: Db): Promise<AccountRow[]> {
  const rows = await db.selectFrom("accounts").select(ACCOUNT).orderBy("name").execute();
  return rows.map(toAccount);
}

/** By id or by name. */
export async function findAccount(db: Db, named: string): Promise<AccountRow | undefined> {
  const row = await db
    .selectFrom("accounts")
    .select(ACCOUNT)
    .where((where) => where.or([where("id", "=", asAccountId(named)), where("name", "=", named)]))
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return row && toAccount(row);
}

/** Throws when its id, or its name in the account, is taken; durable with the commit. */
export async function insertUser(db: Db, user: User, now: number): Promise<void> {
  const { id, accountId, name } = user;
  await db
    .insertInto("users")
    .values({ id, account_id: accountId, name, created_at: now })
    .execute();
}

/** The account's user of exactly this name; undefined when there is none. */
export async function findUser(
  db: Db,
  accountId: AccountId,
  name: string,
): Promise<User | undefined> {
  const row = await db
    .selectFrom("users")
    .select(USER)
    .where("account_id", "=", accountId)
    .where("name", "=", name)
    .executeTakeFirst();
  return row && { id: row.id, accountId: row.account_id, name: row.name };
}

/** The users of an account, in the order of their names. */
export async function listUsers(db: Db, accountId: AccountId): Promise<UserRecord[]> {
  const rows = await db
    .selectFrom("users")
    .select(USER)
    .where("account_id", "=", accountId)
    .orderBy("name")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    createdAt: row.created_at,
  }));
}

/** Durable with its transaction's commit; the user's tokens have to be gone. */
export async function deleteUser(db: Db, id: UserId): Promise<void> {
  await db.deleteFrom("users").where("id", "=", id).execute();
}

/** False: there is no such account. */
export async function updatePlan(
  db: Db,
  id: AccountId,
  plan: AccountRow["plan"],
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("accounts")
    .set({ plan })
    .where("id", "=", id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Whose tokens are meant. */
export type TokenOwner = { readonly account: AccountId } | { readonly user: UserId };

/** The ids of an account's or a user's users. */
function ownersOf(db: Db, owner: TokenOwner) {
  const users = db.selectFrom("users").select("id");
  return "user" in owner
    ? users.where("id", "=", owner.user)
    : users.where("account_id", "=", owner.account);
}

/** Tokens that are not revoked. */
export async function countTokens(db: Db, owner: TokenOwner): Promise<number> {
  const { count } = await db
    .selectFrom("tokens")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("user_id", "in", ownersOf(db, owner))
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Deletes tokens. Only each token's id is kept, for `restore`. Durable with its transaction's
 * commit. `now`: milliseconds since the Unix epoch.
 */
export async function deleteTokens(db: Db, owner: TokenOwner, now: number): Promise<void> {
  const tokens = db.selectFrom("tokens").select("id").where("user_id", "in", ownersOf(db, owner));
  for (const { id } of await tokens.orderBy("id").execute()) {
    await db.insertInto("removed_tokens").values({ id, removed_at: now }).execute();
  }
  await db.deleteFrom("current_projects").where("token_id", "in", tokens).execute();
  await db.deleteFrom("tokens").where("user_id", "in", ownersOf(db, owner)).execute();
}

/** A token to store, with its hash by `hashToken`. Times are milliseconds since the Unix epoch. */
export interface NewToken {
  readonly id: string;
  readonly hash: string;
  readonly userId: UserId;
  readonly name: string;
  readonly scope: "read" | "write";
  readonly projects: readonly ProjectId[] | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** Stores a token as never used. Durable with its transaction's commit. */
export async function insertToken(db: Db, token: NewToken): Promise<void> {
  await db
    .insertInto("tokens")
    .values({
      id: token.id,
      hash: token.hash,
      user_id: token.userId,
      name: token.name,
      scope: token.scope,
      projects: token.projects === null ? null : JSON.stringify(token.projects),
      created_at: token.createdAt,
      expires_at: token.expiresAt,
      last_used_at: null,
      revoked_at: null,
    })
    .execute();
}

function tokens(db: Db) {
  return db
    .selectFrom("tokens")
    .innerJoin("users", "users.id", "tokens.user_id")
    .innerJoin("accounts", "accounts.id", "users.account_id")
    .select([
      "tokens.id",
      "tokens.name",
      "tokens.scope",
      "tokens.projects",
      "tokens.created_at",
      "tokens.expires_at",
      "tokens.last_used_at",
      "tokens.revoked_at",
      "users.id as user_id",
      "users.name as user_name",
      "accounts.id as account_id",
      "accounts.name as account_name",
      "accounts.plan",
      "accounts.created_at as account_created_at",
    ]);
}

type TokenRow = Awaited<ReturnType<ReturnType<typeof tokens>["execute"]>>[number];

/**
 * The token with this hash by `hashToken`, even if expired or revoked; undefined where there is
 * none.
 */
export async function findTokenByHash(db: Db, hash: string): Promise<TokenRecord | undefined> {
  const row = await tokens(db).where("tokens.hash", "=", hash).executeTakeFirst();
  return row && toToken(row);
}

/** Oldest first; of one account when it is named. */
export async function listTokens(db: Db, accountId: AccountId | undefined): Promise<TokenRecord[]> {
  const all = tokens(db);
  const meant = accountId === undefined ? all : all.where("accounts.id", "=", accountId);
  const rows = await meant.orderBy("tokens.created_at").orderBy("tokens.id").execute();
  return rows.map(toToken);
}

/** The account of the token of an id; undefined where there is none. */
export async function findAccountOfToken(db: Db, id: string): Promise<AccountId | undefined> {
  return (await tokens(db).where("tokens.id", "=", id).executeTakeFirst())?.account_id;
}

/** False: there is no such token, or it is revoked already. */
export async function revokeToken(db: Db, id: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("tokens")
    .set({ revoked_at: now })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Stores when a token was last used, in milliseconds since the Unix epoch. */
export async function markUsed(db: Db, id: string, at: number): Promise<void> {
  await db.updateTable("tokens").set({ last_used_at: at }).where("id", "=", id).execute();
}

function toAccount(row: Selectable<HostTables["accounts"]>): AccountRow {
  return { id: row.id, name: row.name, plan: row.plan, createdAt: row.created_at };
}

function toToken(row: TokenRow): TokenRecord {
  const accountId = row.account_id;
  return {
    id: row.id,
    name: row.name,
    scope: row.scope,
    projects: row.projects === null ? null : parseStored<ProjectId[]>(row.projects),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    user: { id: row.user_id, accountId, name: row.user_name },
    account: {
      id: accountId,
      name: row.account_name,
      plan: row.plan,
      createdAt: row.account_created_at,
    },
  };
}
