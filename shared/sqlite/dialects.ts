import { type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";

/**
 * Where PostgreSQL and SQLite say the same thing differently. Queries are written once for both,
 * and ask here.
 */

/** Whether queries of `db` go to a PostgreSQL; SQLite's are the others. */
export function isPostgres<Tables>(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** As a `limit`: none. */
export function noLimit<Tables>(db: Kysely<Tables>): number {
  // Kysely takes a number; for PostgreSQL null is all rows.
  return isPostgres(db) ? (null as unknown as number) : -1;
}

/** The texts of a JSON array, as rows for `in`. */
export function textsIn<Tables>(db: Kysely<Tables>, json: string): RawBuilder<string> {
  return isPostgres(db)
    ? sql`(select value from json_array_elements_text(${json}::json) as each (value))`
    : sql`(select value from json_each(${json}))`;
}

/** Whether a database is named by the address of a PostgreSQL, and not by a path. */
export function isPostgresAddress(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address);
}
