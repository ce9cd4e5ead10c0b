import { type Kysely, sql } from "kysely";
import { isPostgres } from "../../shared/sqlite/dialects.ts";

/**
 * For one transaction, of what may be lost: the last second of it may go with PostgreSQL's machine.
 * It waits for no disk, and for no standby.
 */
export async function allowLateCommit<Tables>(db: Kysely<Tables>): Promise<void> {
  if (isPostgres(db)) await sql`set local synchronous_commit = off`.execute(db);
}
