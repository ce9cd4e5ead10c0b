import { AppError } from "../errors.ts";
import { DatabaseFailure } from "./failures.ts";
import type { SessionPool } from "./pool.ts";
import type { PostgresSession, Statements } from "./session.ts";
import { inTransaction } from "./transaction.ts";

/** One step of the schema, in SQL. Steps are append-only: a released one never changes. */
export interface PostgresMigration {
  readonly name: string;
  /**
   * Whether programs that don't know the step have to stop. While servers of two releases run, a
   * step only adds. What it replaces is taken away in a later release, by a step that breaks.
   */
  readonly breaks: boolean;
  readonly statements: readonly string[];
  /**
   * Rewrites what is stored, some rows in each transaction, while others write. It may run again,
   * or on several servers at once; the step counts as taken when one of them is done.
   */
  readonly rewrite?: (inTransaction: InTransaction) => Promise<void>;
}

/** Runs statements in one transaction, and again if another transaction conflicts with it. */
export type InTransaction = <Result>(
  work: (session: Statements) => Promise<Result>,
) => Promise<Result>;

/** Throws if the tables are not what the steps make; `done`: the names of those taken before. */
type StepsCheck<Tables> = (
  session: PostgresSession<Tables>,
  done: ReadonlySet<string>,
) => Promise<void>;

/**
 * The key of the lock by which servers that start together migrate one after another. Any number
 * would do.
 */
const LOCK = 7_403_616_013;

/**
 * The steps that a database has taken. Refuses one that a newer program has changed in a way that
 * this one can't go on with.
 */
export async function stepsTaken<Tables>(
  pool: SessionPool<Tables>,
  migrations: readonly PostgresMigration[],
): Promise<ReadonlySet<string>> {
  const known = await pool.use(stepsDone);
  refuseNewer(known, migrations);
  return new Set(known.keys());
}

/**
 * Takes the steps that are not `known` to be taken, all in one transaction. Nothing is changed
 * where `check` throws.
 */
export async function migratePostgres<Tables>(
  pool: SessionPool<Tables>,
  {
    migrations,
    known,
  }: { readonly migrations: readonly PostgresMigration[]; readonly known: ReadonlySet<string> },
  check: StepsCheck<Tables>,
): Promise<void> {
  await inTransaction(pool, async (session) => {
    await session.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    const done = await stepsDone(session);
    refuseNewer(done, migrations);
    // Another server may have taken the steps meanwhile.
    if (migrations.every(({ name }) => done.has(name))) return;
    const before = tablesOf(migrations.filter(({ name }) => done.has(name)));
    await refuseOthersTables(session, before);
    await refuseWithoutCreating(session);
    await session.change(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
        name text COLLATE "C" PRIMARY KEY, breaks boolean NOT NULL)`,
      [],
    );
    if (before[0] !== undefined) await actAsOwner(session, before[0]);
    for (const step of migrations) {
      if (done.has(step.name)) continue;
      for (const statement of step.statements) await session.change(statement, []);
      if (!step.rewrite) await record(session, step);
    }
    const made = tablesOf(migrations.filter(({ name }) => !done.has(name)));
    if (before[0] !== undefined) await grantAlike(session, before[0], made);
    await check(session, new Set(done.keys()));
  });
  for (const step of migrations) {
    if (known.has(step.name) || !step.rewrite) continue;
    const again = { mayBeDoneTwice: true };
    await step.rewrite((work) => inTransaction(pool, work, again));
    await inTransaction(pool, (session) => record(session, step), again);
  }
}

/** Several servers may have taken the step at once, so its row may be there. */
async function record(session: Statements, { name, breaks }: PostgresMigration): Promise<void> {
  await session.change(
    "INSERT INTO schema_migrations VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
    [name, breaks],
  );
}

function tablesOf(steps: readonly PostgresMigration[]): string[] {
  const statements = steps.flatMap((step) => step.statements);
  return statements.flatMap((each) => /^CREATE\s+TABLE\s+(\w+)/.exec(each)?.[1] ?? []);
}

/** Only its owner may change a table. */
async function refuseOthersTables<Tables>(
  session: PostgresSession<Tables>,
  tables: readonly string[],
): Promise<void> {
  const [found] = await session.query<{ owners: string | null }>(
    `SELECT string_agg(DISTINCT pg_get_userbyid(relowner), ', ') AS owners FROM pg_class
      WHERE oid IN (SELECT to_regclass(quote_ident(name)) FROM unnest($1::text[]) AS name)
        AND NOT pg_has_role(relowner, 'USAGE')`,
    [tables],
  );
  if (typeof found?.owners !== "string") return;
  const way = `run this once as ${found.owners}, or \`ALTER TABLE … OWNER TO …\` all of them`;
  throw new DatabaseFailure(
    `the schema has to be updated, and its tables are those of ${found.owners}: ${way}; ` +
      "nothing was changed",
  );
}

/** Where nothing has to be made, nobody needs the right to. */
async function refuseWithoutCreating<Tables>(session: PostgresSession<Tables>): Promise<void> {
  const [found] = await session.query<{ may_create: boolean }>(
    "SELECT has_schema_privilege(current_schema(), 'create') AS may_create",
  );
  if (found?.may_create) return;
  const way =
    "GRANT CREATE ON SCHEMA to it, or make it the owner of its database, as by " +
    "`ALTER DATABASE … OWNER TO …`";
  throw new DatabaseFailure(`the database's user may not make tables: ${way}`);
}

/** What a step makes belongs to the owner of the other tables, whoever takes the step. */
async function actAsOwner<Tables>(session: PostgresSession<Tables>, model: string): Promise<void> {
  const [owner] = await session.query<{ name: string }>(
    `SELECT quote_ident(pg_get_userbyid(relowner)) AS name FROM pg_class
      WHERE oid = to_regclass(quote_ident($1)) AND pg_get_userbyid(relowner) <> current_user`,
    [model],
  );
  if (owner) await session.command(`SET LOCAL ROLE ${owner.name}`);
}

/**
 * Grants to the other servers' users what they have on the other tables, so that they can go on.
 */
async function grantAlike<Tables>(
  session: PostgresSession<Tables>,
  model: string,
  made: readonly string[],
): Promise<void> {
  const grants = await session.query<{ text: string }>(
    `SELECT format('GRANT %s ON %I TO %s', string_agg(privilege_type, ', '), name,
        CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END) AS text
      FROM unnest($2::text[]) AS name, pg_class, aclexplode(relacl)
      WHERE pg_class.oid = to_regclass(quote_ident($1)) AND grantee <> relowner
      GROUP BY name, grantee`,
    [model, made],
  );
  for (const { text } of grants) await session.change(text, []);
}

/** By the names of steps that were taken: whether older programs can't go on. */
export async function stepsDone<Tables>(
  session: PostgresSession<Tables>,
  withinMs?: number,
): Promise<ReadonlyMap<string, boolean>> {
  const [found] = await session.query<{ is_there: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS is_there",
    [],
    withinMs,
  );
  if (!found?.is_there) return new Map();
  const rows = await session.query<{ name: string; breaks: boolean }>(
    "SELECT name, breaks FROM schema_migrations",
    [],
    withinMs,
  );
  return new Map(rows.map(({ name, breaks }) => [name, breaks]));
}

/** What is said where a step was taken that is not among a program's `steps`, and breaks it. */
export function newerStep(
  done: ReadonlyMap<string, boolean>,
  steps: readonly { readonly name: string }[],
): string | undefined {
  const known = new Set(steps.map(({ name }) => name));
  const newer = [...done].find(([name, breaks]) => breaks && !known.has(name));
  if (!newer) return undefined;
  return (
    `the database was changed by a newer memsync (it holds the step "${newer[0]}"): update ` +
    "memsync, or name another database; nothing was changed"
  );
}

function refuseNewer(
  done: ReadonlyMap<string, boolean>,
  migrations: readonly PostgresMigration[],
): void {
  const problem = newerStep(done, migrations);
  if (problem !== undefined) throw new AppError("invalid_request", problem);
}
