import { type Kysely, sql } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { isPostgres } from "../../shared/sqlite/dialects.ts";

/**
 * Until the transaction ends, nobody else writes to the account on any server. Servers then look
 * for what they have of its documents in memory, which may be gone; whoever writes here adds to
 * logs, or removes whole documents. The row that this takes stays when the account is deleted:
 * without it, what they have in memory could seem right again. On SQLite only one transaction
 * writes anyway.
 */
export async function keepOthersOut<Tables>(db: Kysely<Tables>, account: AccountId): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`
    insert into owners (owner, version) values (${account}, 1)
    on conflict (owner) do update set version = owners.version + 1`.execute(db);
}
