import { DatabaseFailure, isDiskFull, POOLED, READ_ONLY, STANDBY_LOST } from "./failures.ts";
import { UNHEARD } from "./held-up.ts";
import { newerStep, type PostgresMigration, stepsDone } from "./migrate.ts";
import { SESSION_SETTINGS, type SessionPool } from "./pool.ts";
import { RELIANCE, type Reliance, relianceProblem } from "./reliance.ts";
import {
  lackOf,
  type PartsAsked,
  partsMissing,
  rowsOfTakenSteps,
  unlikeOf,
} from "./schema-look.ts";
import { catalogMark } from "./schema-mark.ts";
import { type SchemaParts, schemaPartsOf } from "./schema-parts.ts";
import type { PostgresSession } from "./session.ts";

/** The oldest release that still gets corrections. */
const OLDEST = 14;

interface ServerFacts extends Reliance {
  readonly version: number;
  readonly is_standby: boolean;
  readonly reads_only: boolean;
  readonly encoding: string;
  readonly schema: string | null;
  /** The program's tables on which the user lacks a privilege. */
  readonly lacking: string | null;
  /** The sequences of these tables that the user may not read. */
  readonly unread: string | null;
  /** The tables of which row level security hides rows from the user. */
  readonly hidden: string | null;
  /** How many commits have waited longer for a standby than a write takes. */
  readonly unheard: number;
  /** See `catalogMark`. */
  readonly mark: string;
  /** The values that `SESSION_SETTINGS` have now. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Throws one sentence where a database can't be one of memsync's servers. Changes nothing.
 * `tables` are those that it has or will have.
 */
export async function checkServer<Tables>(
  pool: SessionPool<Tables>,
  parts: SchemaParts,
): Promise<void> {
  const problem = problemOf(await pool.use((session) => readFacts(session, parts)));
  if (problem !== undefined) throw new DatabaseFailure(problem);
  if (await isPooled(pool)) throw new DatabaseFailure(POOLED);
}

/** What a look at a database has found. */
export interface Looked {
  /** Why it can't be used now, in a sentence. */
  readonly problem: string | undefined;
  /** Commits wait for a synchronous standby, whatever else is wrong. */
  readonly isHeldUp: boolean;
  /** Differs whenever the catalog says something else of the tables. */
  readonly mark: string;
}

/** How a look is made. */
interface Look {
  readonly withinMs?: number;
  /**
   * The mark of the last look that found every part. While the mark is the same, the parts are
   * there.
   */
  readonly whole?: string | undefined;
}

/** Looks at what may change while a server runs: by then all of its tables are made. */
export async function lookAtServer<Tables>(
  pool: SessionPool<Tables>,
  parts: SchemaParts,
  { withinMs, whole }: Look = {},
): Promise<Looked> {
  return await pool.use(async (session) => {
    const facts = await readFacts(session, parts, withinMs);
    const { mark } = facts;
    const isHeldUp = facts.unheard > 0;
    const lack = () =>
      lackIn(session, parts, { withinMs, only: mark === whole ? "rows" : undefined });
    const problem = problemOf(facts) ?? (await lack());
    return { problem: problem ?? (isHeldUp ? STANDBY_LOST : undefined), isHeldUp, mark };
  });
}

async function lackIn<Tables>(
  session: PostgresSession<Tables>,
  parts: SchemaParts,
  asked: PartsAsked,
): Promise<string | undefined> {
  // A newer program may have taken away what is looked for next.
  const newer = newerStep(await stepsDone(session, asked.withinMs), parts.steps);
  return newer ?? lackOf(await partsMissing(session, parts, asked));
}

/** Throws if a step was taken, but its row is missing, so that the step would be taken again. */
export async function refuseUnrecorded<Tables>(
  pool: SessionPool<Tables>,
  parts: SchemaParts,
): Promise<void> {
  const missing = await pool.use((session) => partsMissing(session, parts));
  const problem = lackOf(rowsOfTakenSteps(parts, missing));
  if (problem !== undefined) throw new DatabaseFailure(problem);
}

/** Throws where a part is missing from a database whose steps were all taken. */
export async function refuseMissing<Tables>(
  pool: SessionPool<Tables>,
  parts: SchemaParts,
): Promise<void> {
  const problem = lackOf(await pool.use((session) => partsMissing(session, parts)));
  if (problem !== undefined) throw new DatabaseFailure(problem);
}

/**
 * Throws if the tables are not what the steps make. `done`: the steps that were taken before; the
 * others were taken just now.
 */
export async function refuseUnlike<Tables>(
  session: PostgresSession<Tables>,
  migrations: readonly PostgresMigration[],
  done: ReadonlySet<string>,
): Promise<void> {
  const missingOf = (steps: readonly PostgresMigration[]) =>
    partsMissing(session, schemaPartsOf(steps), { only: "made" });
  const former = lackOf(await missingOf(migrations.filter(({ name }) => done.has(name))));
  const problem = former ?? unlikeOf(await missingOf(migrations));
  if (problem !== undefined) throw new DatabaseFailure(problem);
}

/** Room that a write finds, and leaves as it was. */
const ROOM = `CREATE TEMPORARY TABLE memsync_room ON COMMIT DROP
  AS SELECT repeat('x', 1900) AS page FROM generate_series(1, 400)`;

/** Whether the database's disk has room again. Where that can't be tried the next write shows. */
export async function findsRoom<Tables>(pool: SessionPool<Tables>): Promise<boolean> {
  const session = await pool.take();
  let isBroken = true;
  try {
    await session.command("BEGIN");
    const thrown = await session.command(ROOM).then(
      () => undefined,
      (each: unknown) => each,
    );
    await session.command("ROLLBACK");
    isBroken = false;
    return !isDiskFull(thrown);
  } finally {
    pool.give(session, isBroken);
  }
}

async function readFacts<Tables>(
  session: PostgresSession<Tables>,
  parts: SchemaParts,
  withinMs?: number,
): Promise<ServerFacts> {
  const [facts] = await session.query<ServerFacts>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version,
      pg_is_in_recovery() AS is_standby,
      current_setting('default_transaction_read_only') = 'on' AS reads_only,
      ${RELIANCE},
      current_setting('server_encoding') AS encoding,
      current_schema() AS schema,
      (SELECT json_object_agg(name, coalesce(current_setting(name, true), 'nothing'))
        FROM unnest($1::text[]) AS name) AS settings,
      (SELECT string_agg(name, ', ') FROM unnest($2::text[]) AS name,
        to_regclass(quote_ident(name)) AS found
        WHERE NOT (has_table_privilege(found, 'select') AND has_table_privilege(found, 'insert')
          AND has_table_privilege(found, 'update') AND has_table_privilege(found, 'delete')))
        AS lacking,
      (SELECT string_agg(relname, ', ' ORDER BY relname) FROM unnest($2::text[]) AS name
        JOIN pg_depend ON refclassid = 'pg_class'::regclass
          AND refobjid = to_regclass(quote_ident(name)) AND deptype = 'i'
        JOIN pg_class ON pg_class.oid = objid
        WHERE classid = 'pg_class'::regclass
          -- Of what is no sequence the function fails, and a plan may ask it before another filter.
          AND CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege(objid, 'USAGE, SELECT') END)
        AS unread,
      (SELECT string_agg(name, ', ') FROM unnest($2::text[] || 'schema_migrations'::text) AS name
        WHERE row_security_active(to_regclass(quote_ident(name)))) AS hidden,
      ${UNHEARD} AS unheard,
      ${catalogMark("$2::text[] || 'schema_migrations'::text", parts.functions)} AS mark`,
    [Object.keys(SESSION_SETTINGS), parts.tables],
    withinMs,
  );
  if (!facts) throw new DatabaseFailure("the database says nothing of itself");
  return facts;
}

function problemOf(facts: ServerFacts): string | undefined {
  if (facts.version < OLDEST) {
    const needed = `memsync needs ${OLDEST} or later`;
    return `the database is PostgreSQL ${facts.version}, and ${needed}: update it, or name another`;
  }
  if (facts.encoding !== "UTF8") {
    const making = "make one with `createdb --encoding UTF8 --template template0`";
    return `the database's encoding is ${facts.encoding}, which can't hold every text: ${making}`;
  }
  if (facts.is_standby || facts.reads_only) {
    return READ_ONLY;
  }
  const unreliable = relianceProblem(facts);
  if (unreliable !== undefined) return unreliable;
  const other = Object.entries(SESSION_SETTINGS).find(([name, value]) => {
    return facts.settings[name] !== value;
  });
  if (other) return unsettled(other, facts.settings[other[0]]);
  if (facts.schema === null) return NO_SCHEMA;
  if (facts.lacking !== null) {
    return `the database's user may not read and write ${facts.lacking}: ${GRANTS}`;
  }
  // Whether a number was given before shows by the sequence alone.
  if (facts.unread !== null) {
    return `the database's user may not read ${facts.unread}: ${GRANTS}`;
  }
  if (facts.hidden !== null) {
    const ways = "`ALTER TABLE … DISABLE ROW LEVEL SECURITY` on each, or `ALTER ROLE … BYPASSRLS`";
    return `row level security hides rows of ${facts.hidden} from the database's user: ${ways}`;
  }
  return undefined;
}

const GRANTS =
  "GRANT SELECT, INSERT, UPDATE, DELETE on all tables to it, and " +
  "GRANT USAGE, SELECT ON ALL SEQUENCES";

const NO_SCHEMA =
  "the database has no schema that its search_path names: make one with `CREATE SCHEMA`, or take " +
  "search_path back, of the address, the database or the user";

function unsettled([name, value]: readonly [string, string], found = "nothing"): string {
  const setting = `${name} = ${found}, where memsync sets ${value}`;
  const way = "leave that out of the address, and let a pooler pass `options` on";
  return `connections to the database have ${setting}: ${way}`;
}

/**
 * Whether connections share PostgreSQL's own, as behind a pooler in transaction mode: one that is
 * still open has lent its own to another then.
 */
async function isPooled<Tables>(pool: SessionPool<Tables>): Promise<boolean> {
  const one = await pool.take();
  try {
    const before = await backendOf(one);
    const other = await pool.take();
    try {
      await other.command("BEGIN");
      const elsewhere = await backendOf(other);
      await other.command("COMMIT");
      return elsewhere === before;
    } finally {
      pool.give(other);
    }
  } finally {
    pool.give(one);
  }
}

async function backendOf<Tables>(session: PostgresSession<Tables>): Promise<number | undefined> {
  const [row] = await session.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return row?.pid;
}
