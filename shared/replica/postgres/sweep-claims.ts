import type { Kysely } from "kysely";
import type { SessionPool } from "../../postgres/pool.ts";
import { sessionOf } from "../../postgres/session.ts";
import { inTransaction } from "../../postgres/transaction.ts";

/** Each server asks once an hour, and one of them gets the claim. */
const SWEPT_AGAIN_MS = 50 * 60 * 1000;

/** The key of a lock: any number that no other lock has. */
const LOCK = 7_403_616_015;

/** True: this server is to sweep now, for all of them. */
export function claimSweep<Tables>(pool: SessionPool<Tables>): Promise<boolean> {
  return inTransaction(pool, async (session) => {
    // A claim waits for no disk, because a lost one is made again.
    await session.command("SET LOCAL synchronous_commit = off");
    const claimed = await session.change(
      `UPDATE sweeps SET begun_at = ${NOW} WHERE begun_at < ${NOW} - $1`,
      [SWEPT_AGAIN_MS],
    );
    return claimed > 0;
  });
}

const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Runs a step of a sweep, of which no other server runs one at the same time. */
export async function sweptAlone<Tables, Result>(
  db: Kysely<Tables>,
  work: () => Promise<Result>,
): Promise<Result> {
  await sessionOf(db).query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  return await work();
}
