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
 * Checks a database that nobody has open; undefined if it is sound. Reads the whole file and
 * changes nothing. Throws errors that are not the file's fault, as when it may not be read. Tables
 * that differ from `schema` count as damage, because nothing could be read from them. `expected`: a
 * missing file, or one without tables, counts as damage, too.
 */
export async function findDamage(
  path: string,
  schema: Schema,
  expected: boolean,
): Promise<string | undefined> {
  if (!existsSync(path)) return expected ? "it is missing" : undefined;
  // A new one is empty, and all that it has is in its log, until it is closed once.
  if (sizeOf(path) + sizeOf(`${path}-wal`) === 0) return expected ? "it is empty" : undefined;
  if (existsSync(suspicionOf(path))) return readFileSync(suspicionOf(path), "utf8");
  let connection: SqliteConnection | undefined;
  try {
    connection = await openConnection(path, true);
    connection.exec("PRAGMA busy_timeout = 5000");
    return (
      findDamagedPage(connection, "whole") ??
      (await findMisfit(connection, schema, expected)) ??
      findDamagedPart(connection)
    );
  } catch (thrown) {
    if (isDamage(thrown)) return messageOf(thrown);
    throw thrown;
  } finally {
    connection?.close();
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function findMisfit(connection: SqliteConnection, schema: Schema, expected: boolean) {
  const state = await readSchemaState(kyselyOver(connection, undefined), schema);
  if (state.kind === "empty" && expected) return "it is empty";
  return state.kind === "misfit" ? state.reason : undefined;
}

/**
 * The file in which a running daemon records that its database is damaged. The next start relies on
 * it, because a check does not find every damage.
 */
export function suspicionOf(path: string): string {
  return `${path}.suspect`;
}

/** Records it. If the disk refuses that, the next start has to find the damage by its check. */
export function suspect(path: string, reason: string): void {
  try {
    writeFileSync(suspicionOf(path), reason, { mode: PRIVATE_FILE });
  } catch {
    // The next start checks the database anyway.
  }
}
