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
  /** Digests of the tokens that were told to be of this user, the last one first. */
  readonly tokens: readonly string[];
}

/** What a service told of an account. */
export interface Heard {
  readonly heard: Account;
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
  /** Digest of the token that it told it about, if there was one. */
  readonly token?: string | undefined;
}

/** Tokens are kept up to this number: each shell, and each daemon, may have another one. */
const TOKENS_MAX = 16;

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
  if (!row) return { ...UNKNOWN, heardAt: undefined, agreed: false, tokens: [] };
  const { heard_at, agreed_at, token_user: user, token, token_expires_at: ends, ...account } = row;
  return {
    ...account,
    user,
    ...(ends !== null && { token_expires_at: timestampOf(ends) }),
    heardAt: heard_at ?? undefined,
    agreed: agreed_at !== null,
    tokens: digestsIn(token),
  };
}

/**
 * Stores what a service told of the account. An agreement to write for one account is dropped when
 * the account is another. The user stays the one that was told first: the memories of the layer
 * `user` are that one's. A token that was told to be of that user stays so whatever is told of
 * another token later. Durable with its transaction's commit.
 */
export async function keepHeard(db: Db, remote: At, { heard, now, token }: Heard): Promise<void> {
  const { name, plan, users, token_expires_at: ends } = heard;
  const former = await findAudience(db, remote);
  const isSame = former.name === null || name === null || former.name === name;
  const known = isSame ? former.user : null;
  const user = known ?? heard.user;
  const expiry = ends === undefined ? null : (parseTimestamp(ends) ?? null);
  const others = isSame ? former.tokens.filter((each) => each !== token) : [];
  // An answer without a user, as a proxy's, says of no token whose it is.
  const isUntold = known !== null && heard.user === null;
  const isTheirs = token !== undefined && heard.user === user;
  // Of tokens whose user nobody has told, the last one alone is known.
  const tokens = isTheirs ? [token, ...(known === null ? [] : others)] : others;
  await put(db, remote, {
    ...(!isUntold && { token: digestsOf(tokens), ...(isTheirs && { token_expires_at: expiry }) }),
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

/** Digests as they stand in a row: a former release wrote the last one alone. */
export function digestsIn(token: string | null): string[] {
  return token?.split(" ") ?? [];
}

function digestsOf(tokens: readonly string[]): string | null {
  return tokens.slice(0, TOKENS_MAX).join(" ") || null;
}
