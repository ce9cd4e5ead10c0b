import { existsSync, statSync } from "node:fs";
import { AppError, messageOf } from "../shared/errors.ts";
import { findDamagedPart } from "../shared/replica/find-damaged-part.ts";
import { findDamagedPage } from "../shared/sqlite/check-file.ts";
import type { SqliteConnection } from "../shared/sqlite/connection.ts";
import { openConnection } from "../shared/sqlite/database.ts";
import { isDamage } from "../shared/sqlite/failures.ts";

/** Reading so much takes a quarter of a second; more is read only when the last end was a crash. */
const BYTES_CHECKED_ALWAYS = 256 * 1024 * 1024;

/**
 * Throws one sentence where a database that nobody has open is damaged. A server's data is nobody's
 * to guess at: it is not changed, and what is done about it is for its operator to say.
 */
export async function refuseDamaged(path: string): Promise<void> {
  const reason = await findDamage(path);
  if (reason === undefined) return;
  throw new AppError(
    "invalid_request",
    `the database ${path} is damaged (${reason}); nothing was changed: put a backup in its place ` +
      "with `memsync server restore FILE`, which keeps the damaged one",
  );
}

async function findDamage(path: string): Promise<string | undefined> {
  const size = existsSync(path) ? statSync(path).size : 0;
  const crashed = existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0;
  if (size === 0) return crashed ? "it is empty, and its log is not" : undefined;
  if (size > BYTES_CHECKED_ALWAYS && !crashed) return undefined;
  let connection: SqliteConnection | undefined;
  try {
    connection = await openConnection(path, true);
    connection.exec("PRAGMA busy_timeout = 5000");
    return findDamagedPage(connection, "quick") ?? findDamagedPart(connection);
  } catch (thrown) {
    if (isDamage(thrown)) return messageOf(thrown);
    throw thrown;
  } finally {
    connection?.close();
  }
}
