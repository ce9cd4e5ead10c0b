import type { SessionPool } from "../../postgres/pool.ts";
import type { PostgresSession } from "../../postgres/session.ts";
import { inTransaction } from "../../postgres/transaction.ts";

/**
 * What identifies a database: after a start, a promotion, or a restore from a copy it is another
 * one. What was acknowledged before may be missing then, so its logs go on under a new epoch. None
 * of it needs a privilege, or depends on the session's time zone.
 */
const INCARNATION = `concat_ws(' ',
  (SELECT system_identifier FROM pg_control_system()),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
  extract(epoch FROM pg_postmaster_start_time()),
  'documents'::regclass::oid)`;

/**
 * Identifies the database among those of a server: one that is made from another has the same
 * tables' oids.
 */
const DATABASE_OID = "(SELECT oid FROM pg_database WHERE datname = current_database())::bigint";

/**
 * The transaction that has written the row, as the row's `xmin` says it. Restoring a dump, into
 * whatever tables, writes the row anew; a lock or a vacuum does not.
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
      // A program that did not know these columns has left them out.
      await session.change(
        `UPDATE incarnation SET database_oid = ${DATABASE_OID}, written_by = ${WRITTEN_BY}
        WHERE database_oid IS NULL OR written_by IS NULL`,
        [],
      );
      return known.epoch;
    }
    await begin(session, newEpoch);
    // Of two servers that start together the second has waited for the first, and takes its epoch.
    return newEpoch;
  });
}

/**
 * Has the database's logs go on under `newEpoch`, as after a restore. Servers that run take it over
 * with their next write.
 */
export function beginEpoch<Tables>(pool: SessionPool<Tables>, newEpoch: string): Promise<void> {
  return inTransaction(pool, async (session) => {
    // A server that starts meanwhile waits, and takes this epoch.
    await readForUpdate(session);
    await begin(session, newEpoch);
  });
}

async function begin<Tables>(session: PostgresSession<Tables>, epoch: string): Promise<void> {
  await session.change(
    `INSERT INTO incarnation (mark, database_oid, written_by, epoch)
    VALUES (${INCARNATION}, ${DATABASE_OID}, ${WRITTEN_BY}, $1)
    ON CONFLICT (one) DO UPDATE
    SET mark = excluded.mark, database_oid = excluded.database_oid,
      written_by = excluded.written_by, epoch = excluded.epoch`,
    [epoch],
  );
}

async function readForUpdate<Tables>(session: PostgresSession<Tables>) {
  // Two servers that find no row must not both make one.
  await session.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  const [row] = await session.query<{ epoch: string; is_same: boolean }>(
    `SELECT epoch, ${IS_SAME} AS is_same FROM incarnation FOR UPDATE`,
  );
  return row;
}

/** The key of a lock: any number that no other lock has. */
const LOCK = 7_403_616_014;
