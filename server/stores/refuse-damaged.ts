import { existsSync, statSync } from "node:fs";
import { AppError, messageOf } from "../../shared/errors.ts";
import { findDamagedPart } from "../../shared/replica/log/find-damaged-part.ts";
import { findDamagedPage } from "../../shared/sqlite/check-file.ts";
import type { SqliteConnection } from "../../shared/sqlite/connection.ts";
import { kyselyOver, openConnection } from "../../shared/sqlite/database.ts";
import { isDamage } from "../../shared/sqlite/failures.ts";
import { MisfitError, refuseMisfit, type Schema } from "../../shared/sqlite/misfit.ts";

/** Reading this much takes a quarter of a second. A larger file is read only after a crash. */
const BYTES_CHECKED_ALWAYS = 256 * 1024 * 1024;

/**
 * Throws one sentence if a database that nobody has open is damaged, or its tables differ from
 * `schema`. A server's data must not be guessed: nothing is changed, and the operator decides.
 */
export async function refuseDamaged(path: string, schema: Schema): Promise<void> {
  const reason = await findDamage(path, schema).catch((thrown) => {
    throw thrown instanceof MisfitError ? misfitRefusal(path, thrown) : thrown;
  });
  if (reason === undefined) return;
  throw new AppError(
    "invalid_request",
    `the database ${path} is damaged (${reason}); nothing was changed: put a backup in its place ` +
      "with `memsync server restore FILE`, which keeps the damaged one",
  );
}

/** The refusal of a database with other tables than memsync's. */
export function misfitRefusal(path: string, { message }: MisfitError): AppError {
  return new AppError(
    "invalid_request",
    `the database ${path} is not as memsync made it (${message}); nothing was changed: undo what ` +
      "was done to it, or put a backup in its place with `memsync server restore FILE`",
  );
}

async function findDamage(path: string, schema: Schema): Promise<string | undefined> {
  const size = existsSync(path) ? statSync(path).size : 0;
  const crashed = existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0;
  if (size === 0) return crashed ? "it is empty, and its log is not" : undefined;
  if (size > BYTES_CHECKED_ALWAYS && !crashed) return undefined;
  let connection: SqliteConnection | undefined;
  try {
    connection = await openConnection(path, true);
    connection.exec("PRAGMA busy_timeout = 5000");
    const page = findDamagedPage(connection, "quick");
    if (page !== undefined) return page;
    await refuseMisfit(kyselyOver(connection, undefined), schema);
    return findDamagedPart(connection);
  } catch (thrown) {
    if (isDamage(thrown)) return messageOf(thrown);
    throw thrown;
  } finally {
    connection?.close();
  }
}
