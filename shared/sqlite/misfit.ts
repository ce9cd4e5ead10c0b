import { type Kysely, sql } from "kysely";
import { messageOf } from "../errors.ts";
import { openDatabase } from "./database.ts";
import { isDamage, isUnknownName } from "./failures.ts";
import { type Migration, migrate } from "./migrate.ts";
import { fingerprintOf, misfitOf, readShape, type Shape } from "./shape.ts";

/** The intended schema of a database. */
export interface Schema {
  readonly migrations: readonly Migration[];
  /**
   * `fingerprintOf` the migrations' result, which then need not be run for the comparison. A wrong
   * one only costs 20 ms at each opening.
   */
  readonly fingerprint: number;
}

/** How a database compares with a schema. */
export type SchemaState =
  /** The database is empty. Another process may be creating it. */
  | { readonly kind: "empty" }
  | { readonly kind: "current" }
  /** Some steps are missing, and can be made. */
  | { readonly kind: "older" }
  /** It records steps that are unknown here. */
  | { readonly kind: "newer"; readonly done: readonly string[] }
  /** The database's tables differ from what its recorded steps make. */
  | { readonly kind: "misfit"; readonly reason: string };

/** A database can't be used; the message says why, in a phrase. */
export class MisfitError extends Error {
  override readonly name = "MisfitError";
}

/** Throws a `MisfitError` for an unusable database. */
export async function refuseMisfit<Tables>(db: Kysely<Tables>, schema: Schema): Promise<void> {
  const state = await readSchemaState(db, schema);
  if (state.kind === "misfit") throw new MisfitError(state.reason);
}

/**
 * Compares a database's structure with the steps that it records. Incomplete and manual changes
 * must be found before anything is read, because SQLite takes the quoted name of a missing column
 * for a string. Compares names only and reads no row; nothing is changed.
 */
export async function readSchemaState<Tables>(
  db: Kysely<Tables>,
  schema: Schema,
): Promise<SchemaState> {
  try {
    const found = await readBuild(db);
    const { done, shape, tables } = found;
    const names = schema.migrations.map(({ name }) => name);
    if (done.some((name) => !names.includes(name))) return { kind: "newer", done };
    if (done.length === 0 && isEmpty(shape)) return { kind: "empty" };
    const hasAllSteps = names.every((name) => done.includes(name));
    if (hasAllSteps && fingerprintOf(shape) === schema.fingerprint) return { kind: "current" };
    const brought = hasAllSteps ? shape : await shapeAfter(done, tables, schema.migrations);
    const reason = misfitOf(brought, await shapeMadeBy(schema.migrations));
    if (reason !== undefined) return { kind: "misfit", reason };
    return { kind: hasAllSteps ? "current" : "older" };
  } catch (thrown) {
    if (isFault(thrown)) throw thrown;
    return { kind: "misfit", reason: messageOf(thrown) };
  }
}

/** A database's structure, and the steps that it records. */
interface Build {
  readonly done: readonly string[];
  readonly shape: Shape;
  /** The statements that create its tables. */
  readonly tables: readonly string[];
}

/** Read at one moment, because another process may be creating it. */
function readBuild<Tables>(db: Kysely<Tables>): Promise<Build> {
  return db.connection().execute(async (one) => {
    await sql`begin`.execute(one);
    try {
      const done = await stepsDone(one);
      return { done, shape: await readShape(one), tables: await statementsOf(one) };
    } finally {
      await sql`commit`.execute(one);
    }
  });
}

/** The structure that the migrations make. */
export async function shapeMadeBy(migrations: readonly Migration[]): Promise<Shape> {
  return await inMemory(async (db) => {
    await migrate(db, migrations);
    return await readShape(db);
  });
}

function isEmpty({ columns }: Shape): boolean {
  return [...columns.keys()].every((table) => table === "schema_migrations");
}

/** The structure after the missing steps; throws if they fail. */
async function shapeAfter(
  done: readonly string[],
  tables: readonly string[],
  migrations: readonly Migration[],
): Promise<Shape> {
  return await inMemory(async (copy) => {
    for (const statement of tables) await sql.raw(statement).execute(copy);
    for (const name of done) {
      await sql`insert into schema_migrations (name) values (${name})`.execute(copy);
    }
    await migrate(copy, migrations);
    return await readShape(copy);
  });
}

/** Without the internal tables of virtual tables, which these create themselves. */
async function statementsOf<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const made = sql<{ name: string; sql: string; isVirtual: number }>`
    select name, sql, sql like 'create virtual %' as isVirtual
    from sqlite_master where sql is not null order by rowid`;
  const { rows } = await made.execute(db);
  const kept = rows.filter((row) => row.isVirtual === 1).map(({ name }) => `${name}_`);
  return rows
    .filter(({ name }) => !name.startsWith("sqlite_"))
    .filter(({ name }) => !kept.some((prefix) => name.startsWith(prefix)))
    .map((row) => row.sql);
}

/** The recorded steps; none if there is no record. */
async function stepsDone<Tables>(db: Kysely<Tables>): Promise<string[]> {
  try {
    const steps = sql<{ name: string }>`select name from schema_migrations order by name`;
    return (await steps.execute(db)).rows.map(({ name }) => name);
  } catch (thrown) {
    if (isUnknownName(thrown)) return [];
    throw thrown;
  }
}

async function inMemory<Result>(work: (db: Kysely<unknown>) => Promise<Result>): Promise<Result> {
  const database = await openDatabase<unknown>({ path: ":memory:" });
  try {
    return await work(database.writer);
  } finally {
    await database.close();
  }
}

/** Errors of the disk or another process tell nothing about a database's structure. */
function isFault(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return isDamage(thrown) || (code.startsWith("SQLITE_") && code !== "SQLITE_ERROR");
}
