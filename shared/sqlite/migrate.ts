import { type Kysely, sql } from "kysely";
import { AppError } from "../errors.ts";
import { writeTransaction } from "./transaction.ts";

/**
 * One step of the schema. Migrations are append-only: a released one never changes, and imports
 * nothing from the program, whose present shape would rewrite the past.
 */
export interface Migration {
  /** Unique; recorded in the database once the step is done. */
  readonly name: string;
  up(db: Kysely<unknown>): Promise<void>;
}

interface MigrationTables {
  schema_migrations: { name: string };
}

/**
 * Brings a database to the schema of `migrations`, each in a transaction of its own (Kysely's own
 * migrator has none on SQLite). Refuses a database that holds steps unknown here: it was written
 * by a newer version, and nothing is touched.
 */
export async function migrate<Tables>(
  writer: Kysely<Tables>,
  migrations: readonly Migration[],
): Promise<void> {
  const db = writer as unknown as Kysely<MigrationTables>;
  await db.schema
    .createTable("schema_migrations")
    .ifNotExists()
    .addColumn("name", "text", (column) => column.primaryKey())
    .execute();
  const rows = await db.selectFrom("schema_migrations").select("name").orderBy("name").execute();
  const done = new Set(rows.map((row) => row.name));
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = [...done].find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new AppError(
      "invalid_request",
      `the database was written by a newer memsync (it holds the step "${unknown}"): update ` +
        "memsync, or choose another folder; nothing was changed",
    );
  }
  for (const migration of migrations) {
    if (done.has(migration.name)) continue;
    await writeTransaction(db, async (transaction) => {
      // Another process may be doing the same.
      if (await isDone(transaction, migration.name)) return;
      await migration.up(transaction as unknown as Kysely<unknown>);
      await sql`insert into schema_migrations (name) values (${migration.name})`.execute(
        transaction,
      );
    });
  }
}

async function isDone(db: Kysely<MigrationTables>, name: string): Promise<boolean> {
  const row = await db
    .selectFrom("schema_migrations")
    .select("name")
    .where("name", "=", name)
    .executeTakeFirst();
  return row !== undefined;
}
