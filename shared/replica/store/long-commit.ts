import { type Kysely, sql } from "kysely";
import { transactionOf } from "../../sqlite/direct.ts";
import { savepoint } from "../../sqlite/transaction.ts";
import type { Pause } from "../../turns.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { CommittedRow } from "./open-document.ts";

/** A commit with this many bytes of updates takes longer than a turn should. */
const LONG_COMMIT_BYTES = 256 * 1024;

/** SQLite's own default: https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint. */
const PAGES_OF_LOG_KEPT = 1000;

/** Whether what a transaction has written makes its commit long. */
export function isLongCommit(rows: readonly CommittedRow[]): boolean {
  return rows.reduce((bytes, { update }) => bytes + update.length, 0) >= LONG_COMMIT_BYTES;
}

/**
 * Does what the commit would otherwise do, so that the commit itself is short. To be called at the
 * transaction's end. `writeLogBack` has to follow, whether the commit succeeds or not.
 */
export async function lightenCommit(db: Kysely<ReplicaTables>, pause: Pause): Promise<void> {
  await pause();
  // When a savepoint begins, FTS5 writes what it otherwise keeps until the commit.
  await savepoint(db, async () => {});
  transactionOf(db).run("PRAGMA wal_autocheckpoint = 0");
  await pause();
}

/** Writes the log back into the database's file, which the commit was kept from. */
export async function writeLogBack<Tables>(writer: Kysely<Tables>): Promise<void> {
  try {
    await sql.raw(`PRAGMA wal_autocheckpoint = ${PAGES_OF_LOG_KEPT}`).execute(writer);
    await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(writer);
  } catch {
    // As after any commit, whatever could not be written back stays in the log, and is tried again
    // later.
  }
}
