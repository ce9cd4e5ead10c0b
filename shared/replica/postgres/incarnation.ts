import type { SessionPool } from "../../postgres/pool.ts";
import type { PostgresSession } from "../../postgres/session.ts";
import { inTransaction } from "../../postgres/transaction.ts";

/**
 * What a database is the same by: after a start, a promotion, or a restore from a copy it is
 * another. What was acknowledged before may be missing then, so its logs go on under an epoch that
 * nobody knows. No privileges are needed for any of it, and no session's time zone changes it.
 */
const INCARNATION = `concat_ws(' ',
  (SELECT system_identifier FROM pg_control_system()),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
  extract(epoch FROM pg_postmaster_start_time()),
  'documents'::regclass::oid)`;

/** Which of a server's databases it is: one that is made of another has the tables' oids. */
const DATABASE_OID = "(SELECT oid FROM pg_database WHERE datname = current_database())::bigint";

/**
 * The transaction that has written the row, as the row itself says by `xmin`. Who puts back what a
 * dump has, into whatever tables, writes it anew; neither a lock nor a vacuum does.
 */
const WRITTEN_BY = "pg_current_xact_id()::xid::text";

/** Whether the row is of the database as it is now. */
export const IS_SAME = `(mark = ${INCARNATION}
  AND coalesce(database_oid, ${DATABASE_OID}) = ${DATABASE_OID}
  AND coalesce(written_by, xmin::text) = xmin::text)`;

/**
 * The epoch of the database as it is now, by the first of its servers that sees it; `newEpoch` is
 * taken if there is none yet.
 */
export function currentEpoch<Tables>(pool: SessionPool<Tables>, newEpoch: string): Promise<string> {
  return inTransaction(pool, async (session) => {
    const known = await readForUpdate(session);
    if (known?.is_same) {
      // Who did not know these has left them out.
      await session.change(
        `UPDATE incarnation SET database_oid = ${DATABASE_OID}, written_by = ${WRITTEN_BY}
        WHERE database_oid IS NULL OR written_by IS NULL`,
        [],
      );
      return known.epoch;
    }
    await session.change(
      `INSERT INTO incarnation (mark, database_oid, written_by, epoch)
      VALUES (${INCARNATION}, ${DATABASE_OID}, ${WRITTEN_BY}, $1)
      ON CONFLICT (one) DO UPDATE
      SET mark = excluded.mark, database_oid = excluded.database_oid,
        written_by = excluded.written_by, epoch = excluded.epoch`,
      [newEpoch],
    );
    // Of two servers that begin at once the second has waited for the first.
    return newEpoch;
  });
}

async function readForUpdate<Tables>(session: PostgresSession<Tables>) {
  // Two servers that find no row must not both make one.
  await session.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  const [row] = await session.query<{ epoch: string; is_same: boolean }>(
    `SELECT epoch, ${IS_SAME} AS is_same FROM incarnation FOR UPDATE`,
  );
  return row;
}

/** Any number, but that of no other lock. */
const LOCK = 7_403_616_014;
