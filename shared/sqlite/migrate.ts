import { type Kysely, sql } from "kysely";
import { AppError } from "../errors.ts";
import { writeTransaction } from "./transaction.ts";

/**
 * One step of the schema. Migrations are append-only: a released one never changes. It imports
 * nothing from the program, which may change.
 */
export interface Migration {
  /** Unique. Recorded in the database once the step is done. */
  readonly name: string;
  up(db: Kysely<unknown>): Promise<void>;
}

interface MigrationTables {
  schema_migrations: { name: string };
}

/**
 * Migrates a database to the schema of `migrations`, each step in a transaction of its own
 * (Kysely's migrator has none on SQLite); a new database in a single one. Refuses a database with
 * unknown steps, which a newer version wrote, with nothing changed.
 */
export async function migrate<Tables>(
  writer: Kysely<Tables>,
  migrations: readonly Migration[],
): Promise<void> {
  // Every database has this table, whatever tables it was opened for.
  const db = writer as unknown as Kysely<MigrationTables>;
  await db.schema
    .createTable("schema_migrations")
    .ifNotExists()
    .addColumn("name", "text", (column) => column.primaryKey())
    .execute();
  const done = await stepsDone(db);
  refuseNewer(done, migrations);
  const missing = migrations.filter((migration) => !done.has(migration.name));
  // Each transaction waits for the disk, and a new database is useless before the last step.
  const batches = done.size === 0 ? [missing] : missing.map((migration) => [migration]);
  for (const batch of batches) {
    await writeTransaction(db, async (transaction) => await runSteps(transaction, batch));
  }
}

/**
 * Throws one sentence if one of the steps `done` is not among `migrations`: a newer version wrote
 * the database.
 */
export function refuseNewer(done: Iterable<string>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = [...done].find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new AppError(
    "invalid_request",
    `the database was written by a newer memsync (it holds the step "${unknown}"): update ` +
      "memsync, or choose another folder; nothing was changed",
  );
}

async function runSteps(
  transaction: Kysely<MigrationTables>,
  batch: readonly Migration[],
): Promise<void> {
  // Another process may have done some of it meanwhile.
  const done = await stepsDone(transaction);
  for (const migration of batch) {
    if (done.has(migration.name)) continue;
    // A step knows only the tables of its own time.
    await migration.up(transaction as unknown as Kysely<unknown>);
    await sql`insert into schema_migrations (name) values (${migration.name})`.execute(transaction);
  }
}

async function stepsDone(db: Kysely<MigrationTables>): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom("schema_migrations").select("name").orderBy("name").execute();
  return new Set(rows.map((row) => row.name));
}
