import type { Kysely } from "kysely";
import { parseTimestamp, timestampOf } from "../../shared/timestamps.ts";
import type { Account } from "../../shared/wire/account.ts";
import { type Remote, serviceNameOf } from "./remote.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;
type At = Pick<Remote, "url" | "account">;

/** Who can read a remote's `global`, as its service last told. */
export interface Audience extends Account {
  /** In milliseconds since the Unix epoch; undefined where the service has not told yet. */
  readonly heardAt: number | undefined;
  /** The user has agreed to write for these readers. */
  readonly agreed: boolean;
  /** Digest of the last token that was told to be of this user; undefined: of none. */
  readonly token?: string | undefined;
}

/** What a service told of an account. */
export interface Heard {
  readonly heard: Account;
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
  /** Digest of the token that it told it about, if there was one. */
  readonly token?: string | undefined;
}

const UNKNOWN: Account = { name: null, plan: null, users: null, user: null };

/** What is known of the readers of a remote's account. Changes nothing. */
export async function findAudience(db: Db, remote: At): Promise<Audience> {
  const row = await db
    .selectFrom("audiences")
    .select(["name", "plan", "users", "token_user", "token", "token_expires_at"])
    .select(["heard_at", "agreed_at"])
    .where("service", "=", serviceNameOf(remote))
    .where("account", "=", remote.account)
    .executeTakeFirst();
  if (!row) return { ...UNKNOWN, heardAt: undefined, agreed: false, token: undefined };
  const { heard_at, agreed_at, token_user: user, token, token_expires_at: ends, ...account } = row;
  return {
    ...account,
    user,
    ...(ends !== null && { token_expires_at: timestampOf(ends) }),
    heardAt: heard_at ?? undefined,
    agreed: agreed_at !== null,
    token: token ?? undefined,
  };
}

/**
 * Stores what a service told of the account. An agreement to write for one account is dropped when
 * the account is another. The user stays the one that was told first: the memories of the layer
 * `user` are that one's. Durable with its transaction's commit.
 */
export async function keepHeard(db: Db, remote: At, { heard, now, token }: Heard): Promise<void> {
  const { name, plan, users, token_expires_at: ends } = heard;
  const former = await findAudience(db, remote);
  const isSame = former.name === null || name === null || former.name === name;
  const user = (isSame ? former.user : null) ?? heard.user;
  const expiry = ends === undefined ? null : (parseTimestamp(ends) ?? null);
  const isTheirs = heard.user === null || heard.user === user;
  await put(db, remote, {
    ...(token !== undefined && isTheirs && { token, token_expires_at: expiry }),
    ...{ name, plan, users, token_user: user, heard_at: now },
    ...(!isSame && { agreed_at: null }),
  });
}

/** Stores that the user agreed to write for everybody in the account. Durable with the commit. */
export async function keepAgreed(db: Db, remote: At, now: number): Promise<void> {
  await put(db, remote, { agreed_at: now });
}

async function put(
  db: Db,
  remote: At,
  values: Partial<Omit<DaemonTables["audiences"], "service" | "account">>,
): Promise<void> {
  const place = { service: serviceNameOf(remote), account: remote.account };
  const { user: _, ...unknown } = UNKNOWN;
  const noToken = { token_user: null, token: null, token_expires_at: null };
  const nothing = { ...unknown, ...noToken, heard_at: null, agreed_at: null };
  await db
    .insertInto("audiences")
    .values({ ...place, ...nothing, ...values })
    .onConflict((conflict) => conflict.columns(["service", "account"]).doUpdateSet(values))
    .execute();
}
