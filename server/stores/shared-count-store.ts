import { type Kysely, sql } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { parseStored } from "../../shared/json.ts";
import type { HostTables } from "./account-tables.ts";
import type { RequestCounts } from "./request-count-store.ts";

type Db = Kysely<HostTables>;

/** As of now by the database's clock, in milliseconds since the Unix epoch. */
interface CountsNow {
  readonly counts: readonly RequestCounts[];
  readonly now: number;
}

interface CountedRow {
  readonly account: AccountId;
  readonly minute: string;
  readonly day: number;
  readonly in_day: number;
  readonly now: number;
}

/**
 * On PostgreSQL: the counts of accounts, which nobody else changes until the transaction ends; new
 * accounts are stored without a request. Leaves out those that another transaction holds.
 */
export async function holdRequestCounts(
  db: Db,
  accounts: readonly AccountId[],
): Promise<CountsNow> {
  const found = await holdFree(db, accounts);
  const held = new Set(found.map(({ account }) => account));
  const others = accounts.filter((account) => !held.has(account));
  // Always in the same order, or two servers would wait for each other.
  const isNew = others.length > 0 && (await insertEmpty(db, others.toSorted())) > 0;
  const rows = isNew ? [...found, ...(await holdFree(db, others))] : found;
  return { counts: rows.map(toCounts), now: Math.max(0, ...rows.map(({ now }) => now)) };
}

async function holdFree(db: Db, accounts: readonly AccountId[]): Promise<CountedRow[]> {
  const { rows } = await sql<CountedRow>`
    select account, minute, day, in_day, ${CLOCK} as now
    from request_counts where account = any(${accounts}::text[])
    order by account for update skip locked`.execute(db);
  return rows;
}

async function insertEmpty(db: Db, accounts: readonly AccountId[]): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into request_counts (account, minute, day, in_day)
    select account, '[]', 0, 0 from unnest(${accounts}::text[]) as given (account)
    on conflict (account) do nothing`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Replaces the counts of accounts that are held. */
export async function replaceRequestCounts(
  db: Db,
  counts: readonly RequestCounts[],
): Promise<void> {
  const column = <Value>(of: (each: RequestCounts) => Value) => counts.map(of);
  await sql`
    update request_counts set minute = given.minute, day = given.day, in_day = given.in_day
    from unnest(
      ${column(({ account }) => account)}::text[],
      ${column(({ minute }) => JSON.stringify(minute))}::text[],
      ${column(({ day }) => day)}::bigint[],
      ${column(({ inDay }) => inDay)}::bigint[]
    ) as given (account, minute, day, in_day)
    where request_counts.account = given.account`.execute(db);
}

/** The counts of an account, if there are any, without waiting for anybody. */
export async function readRequestCounts(db: Db, account: AccountId): Promise<CountsNow> {
  const { rows } = await sql<CountedRow | { [name in keyof CountedRow]: null }>`
    select account, minute, day, in_day, now from (select ${CLOCK} as now) as clock
    left join request_counts on account = ${account}`.execute(db);
  const [row] = rows;
  if (!row?.account) return { counts: [], now: Number(row?.now) };
  return { counts: [toCounts(row)], now: row.now };
}

/** The database's clock, in milliseconds since the Unix epoch. */
export async function readClock(db: Db): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${CLOCK} as now`.execute(db);
  return Number(rows[0]?.now);
}

const CLOCK = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::float8`;

function toCounts({ account, minute, day, in_day: inDay }: CountedRow): RequestCounts {
  return { account, minute: parseStored<number[]>(minute), day: Number(day), inDay: Number(inDay) };
}
