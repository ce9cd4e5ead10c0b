import { type Kysely, sql } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { isPostgres } from "../../shared/sqlite/dialects.ts";

/**
 * Until its transaction ends nobody else writes to the account, on whatever server; what servers
 * have in memory of its documents is read again. Its row stays when the account goes, or what they
 * have could seem to be right once more. On SQLite only one transaction writes anyway.
 */
export async function keepOthersOut<Tables>(db: Kysely<Tables>, account: AccountId): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`
    insert into owners (owner, version) values (${account}, 1)
    on conflict (owner) do update set version = owners.version + 1`.execute(db);
}
