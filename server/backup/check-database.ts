import { AppError, messageOf } from "../../shared/errors.ts";
import { findDamagedPage } from "../../shared/sqlite/check-file.ts";
import { prepareRows, type SqliteConnection } from "../../shared/sqlite/connection.ts";
import { kyselyOver, openConnection } from "../../shared/sqlite/database.ts";
import { isUnknownName } from "../../shared/sqlite/failures.ts";
import { readSchemaState } from "../../shared/sqlite/misfit.ts";
import { hostMigrations, hostSchema } from "../stores/open-store.ts";

/**
 * Throws one sentence unless the file is a sound database of a server, of this version or an older
 * one. Reads every page and changes nothing. The sentence calls the file `name`.
 */
export async function checkServerDatabase(path: string, name: string): Promise<void> {
  const connection = await openToRead(path, name);
  try {
    const steps = stepsIn(connection, name);
    const known = new Set(hostMigrations.map((migration) => migration.name));
    const unknown = steps.find((step) => !known.has(step));
    if (unknown !== undefined && /^(replica|service|host)-/.test(unknown)) {
      throw refused(`${name} was written by a newer memsync (step "${unknown}"): update memsync`);
    }
    if (unknown !== undefined || !steps.includes("host-0001-accounts-and-tokens")) {
      throw refused(`${name} is not a database of a memsync server`);
    }
    connection.exec("PRAGMA busy_timeout = 5000");
    const problem = findDamagedPage(connection, "whole");
    if (problem !== undefined) throw refused(`${name} is damaged (${problem})`);
    const state = await readSchemaState(kyselyOver(connection, undefined), hostSchema);
    if (state.kind === "misfit") {
      throw refused(`${name} is not as memsync made it (${state.reason})`);
    }
  } finally {
    connection.close();
  }
}

async function openToRead(path: string, name: string): Promise<SqliteConnection> {
  try {
    return await openConnection(path, true);
  } catch (thrown) {
    throw refused(`${name} can't be opened (${messageOf(thrown)})`);
  }
}

function stepsIn(connection: SqliteConnection, name: string): readonly string[] {
  try {
    const sql = "select name from schema_migrations order by name";
    const rows = prepareRows<{ name: string }>(connection, sql).all([]);
    return rows.map((row) => row.name);
  } catch (thrown) {
    if (isUnknownName(thrown)) throw refused(`${name} is not a database of a memsync server`);
    throw refused(`${name} can't be read as a database (${messageOf(thrown)})`);
  }
}

function refused(message: string): AppError {
  return new AppError("invalid_request", message);
}
