import type { Kysely } from "kysely";

/**
 * The same database, for code that knows a part of its tables only:
 *
 *     const replica: Kysely<ReplicaTables> = narrowTables(context.db);
 */
export function narrowTables<Part, Whole extends Part>(db: Kysely<Whole>): Kysely<Part> {
  // Kysely's types are invariant in the set of tables; using some of them alone is sound.
  return db as unknown as Kysely<Part>;
}
