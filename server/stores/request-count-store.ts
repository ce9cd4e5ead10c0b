import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { parseStored } from "../../shared/json.ts";
import type { HostTables } from "./account-tables.ts";

type Db = Kysely<HostTables>;

/** An account's stored counts. */
export interface RequestCounts {
  readonly account: AccountId;
  /** Times of the requests of the last 60 seconds, in milliseconds, oldest first. */
  readonly minute: readonly number[];
  /** Days since the Unix epoch. */
  readonly day: number;
  /** Requests of that day. */
  readonly inDay: number;
}

/** Undefined for an account without recent requests. */
export async function findRequestCounts(
  db: Db,
  account: AccountId,
): Promise<RequestCounts | undefined> {
  const row = await db
    .selectFrom("request_counts")
    .select(["minute", "day", "in_day"])
    .where("account", "=", account)
    .executeTakeFirst();
  if (!row) return undefined;
  return { account, minute: parseStored<number[]>(row.minute), day: row.day, inDay: row.in_day };
}

/** Replaces what is kept of an account; durable with its transaction's commit. */
export async function putRequestCounts(db: Db, counts: RequestCounts): Promise<void> {
  const { account, day, inDay } = counts;
  const values = { minute: JSON.stringify(counts.minute), day, in_day: inDay };
  await db
    .insertInto("request_counts")
    .values({ account, ...values })
    .onConflict((conflict) => conflict.column("account").doUpdateSet(values))
    .execute();
}

/** Forgets accounts whose last request was before a day. */
export async function dropRequestCountsBefore(db: Db, day: number): Promise<void> {
  await db.deleteFrom("request_counts").where("day", "<", day).execute();
}

/** Forgets an account's counts, or everybody's without one. */
export async function deleteCounts(db: Db, account: AccountId | undefined): Promise<void> {
  const all = db.deleteFrom("request_counts");
  await (account === undefined ? all : all.where("account", "=", account)).execute();
}
