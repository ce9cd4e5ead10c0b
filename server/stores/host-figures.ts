import { type Kysely, sql } from "kysely";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import { isPostgres } from "../../shared/sqlite/dialects.ts";

/**
 * The number of rows in all logs. Reads an index entry for each row: not for every request. Of many
 * servers' database it is PostgreSQL's estimate, since nobody counts a hundred million rows.
 */
export async function countLogRows<Tables extends ReplicaTables>(
  db: Kysely<Tables>,
): Promise<number> {
  if (isPostgres(db)) {
    const found = await sql<{ count: number }>`
      select n_live_tup as count from pg_stat_user_tables
      where relid = 'updates'::regclass`.execute(db);
    return found.rows[0]?.count ?? 0;
  }
  const { rows } = await sql<{ count: number }>`select count(*) as count from updates`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Size of the database without its write-ahead log. */
export async function readDatabaseBytes<Tables>(db: Kysely<Tables>): Promise<number> {
  if (isPostgres(db)) {
    const found = await sql<{ bytes: number }>`
      select pg_database_size(current_database()) as bytes`.execute(db);
    return found.rows[0]?.bytes ?? 0;
  }
  const { rows } = await sql<{ bytes: number }>`
    select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()
  `.execute(db);
  return rows[0]?.bytes ?? 0;
}
