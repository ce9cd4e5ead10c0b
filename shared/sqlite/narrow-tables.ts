import type { Kysely } from "kysely";

/**
 * The same database, for code that knows only some of its tables:
 *
 * ```
 * const replica: Kysely<ReplicaTables> = narrowTables(context.db);
 * ```
 */
export function narrowTables<Part, Whole extends Part>(db: Kysely<Whole>): Kysely<Part> {
  // Kysely's types are invariant in the set of tables. Using only some of them is sound.
  return db as unknown as Kysely<Part>;
}
