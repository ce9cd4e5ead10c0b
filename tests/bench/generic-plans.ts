import { isObject } from "../../shared/json.ts";
import { ask } from "./postgres.ts";

/** Below so many rows PostgreSQL does well to read all of them. */
const LARGE = 1000;

/** In the place of limits, whose numbers are taken out of what is kept of a statement. */
const LIMIT = 500;

/** Rows that are read one after another in the time in which one is looked up by an index. */
const READ_FOR_ONE = 256;

export interface GenericPlans {
  /** How many statements were planned. */
  readonly planned: number;
  /** Tables of many rows that a statement reads from one end to the other, with its beginning. */
  readonly whole: readonly string[];
}

/**
 * The plans for any values of all statements that servers have asked a database, by what
 * `pg_stat_statements` has of them.
 */
export async function genericPlans(address: string): Promise<GenericPlans> {
  await ask(address, "ANALYZE");
  const large = await ask<{ name: string; rows: number }>(
    address,
    `SELECT relname AS name, reltuples::float8 AS rows FROM pg_class
      WHERE relkind = 'r' AND reltuples > ${LARGE} AND relnamespace = 'public'::regnamespace`,
  );
  const rowsOf = new Map(large.map(({ name, rows }) => [name, rows]));
  const statements = await ask<{ query: string }>(
    address,
    `SELECT query FROM pg_stat_statements JOIN pg_database ON oid = dbid
      WHERE datname = current_database() AND toplevel
        AND query ~* '^\\s*(select|with|insert|update|delete)' AND query !~ 'pg_|bare_commits'`,
  );
  const whole: string[] = [];
  let planned = 0;
  for (const { query } of statements) {
    const plan = await planOf(address, query);
    if (plan === undefined) continue;
    planned += 1;
    // For so many rows at once it does well to read a larger one, if it could do otherwise.
    const isLimited = query.search(LIMITED) !== -1;
    const forced = isLimited ? readWhole(await planOf(withIndexes(address), query)) : [];
    for (const table of readWhole(plan)) {
      const isRight = isLimited && !forced.includes(table);
      const rows = rowsOf.get(table) ?? 0;
      if (rows <= (isRight ? LIMIT * READ_FOR_ONE : LARGE)) continue;
      whole.push(`${table}: ${query.replace(/\s+/g, " ").slice(0, 80)}`);
    }
  }
  return { planned, whole };
}

const LIMITED = /\blimit \$\d+/gi;

/** The same database, which then reads a table whole only where no index leads to its rows. */
function withIndexes(address: string): string {
  const url = new URL(address);
  url.searchParams.set("options", "-c enable_seqscan=off");
  return url.href;
}

/** Undefined for a text that is none any more with its constants taken out. */
async function planOf(address: string, query: string): Promise<unknown> {
  try {
    const limited = query.replace(LIMITED, `limit ${LIMIT}`);
    return await ask(address, `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${limited}`);
  } catch {
    return undefined;
  }
}

function readWhole(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(readWhole);
  if (!isObject(node)) return [];
  const own = node["Node Type"] === "Seq Scan" ? [String(node["Relation Name"])] : [];
  return [...own, ...Object.values(node).flatMap(readWhole)];
}
