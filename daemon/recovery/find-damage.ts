import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { messageOf } from "../../shared/errors.ts";
import { findDamagedPart } from "../../shared/replica/log/find-damaged-part.ts";
import { findDamagedPage } from "../../shared/sqlite/check-file.ts";
import type { SqliteConnection } from "../../shared/sqlite/connection.ts";
import { kyselyOver, openConnection } from "../../shared/sqlite/database.ts";
import { isDamage } from "../../shared/sqlite/failures.ts";
import { readSchemaState, type Schema } from "../../shared/sqlite/misfit.ts";

const PRIVATE_FILE = 0o600;

/**
 * What is wrong with a database that nobody has open; undefined when nothing is. Reads the whole
 * file, changes nothing, and throws what is no fault of the file's (as when it may not be read).
 * Tables that are not what `schema` makes are damage, for nothing can be read by them.
 * `expected`: there should be one, so that a missing or an empty file is damage, too.
 */
export async function findDamage(
  path: string,
  schema: Schema,
  expected: boolean,
): Promise<string | undefined> {
  if (!existsSync(path)) return expected ? "it is missing" : undefined;
  if (statSync(path).size === 0) return expected ? "it is empty" : undefined;
  if (existsSync(suspicionOf(path))) return readFileSync(suspicionOf(path), "utf8");
  let connection: SqliteConnection | undefined;
  try {
    connection = await openConnection(path, true);
    connection.exec("PRAGMA busy_timeout = 5000");
    return (
      findDamagedPage(connection, "whole") ??
      (await findMisfit(connection, schema)) ??
      findDamagedPart(connection)
    );
  } catch (thrown) {
    if (isDamage(thrown)) return messageOf(thrown);
    throw thrown;
  } finally {
    connection?.close();
  }
}

async function findMisfit(connection: SqliteConnection, schema: Schema) {
  const state = await readSchemaState(kyselyOver(connection, undefined), schema);
  return state.kind === "misfit" ? state.reason : undefined;
}

/**
 * Where a running daemon leaves word that its database is damaged. The next start takes its word
 * for it, for not all damage shows in a check.
 */
export function suspicionOf(path: string): string {
  return `${path}.suspect`;
}

/** Leaves that word. A disk that does not take it has the next start find the damage by itself. */
export function suspect(path: string, reason: string): void {
  try {
    writeFileSync(suspicionOf(path), reason, { mode: PRIVATE_FILE });
  } catch {
    // The check at the next start is the rule, this the exception.
  }
}
