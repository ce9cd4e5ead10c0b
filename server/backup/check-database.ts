import { AppError, messageOf } from "../../shared/errors.ts";
import type { SqliteConnection } from "../../shared/sqlite/connection.ts";
import { openConnection } from "../../shared/sqlite/database.ts";
import { hostMigrations } from "../open-store.ts";

/**
 * Throws one sentence unless the file is a sound database of a server, of this version of memsync
 * or an older one. Reads every page of it. The file is not changed.
 */
export async function checkDatabase(path: string): Promise<void> {
  const connection = await openToRead(path);
  try {
    const steps = stepsIn(connection, path);
    const known = new Set(hostMigrations.map((migration) => migration.name));
    const unknown = steps.find((step) => !known.has(step));
    if (unknown !== undefined && /^(replica|service|host)-/.test(unknown)) {
      throw refused(`${path} was written by a newer memsync (step "${unknown}"): update memsync`);
    }
    if (unknown !== undefined || !steps.includes("host-0001-accounts-and-tokens")) {
      throw refused(`${path} is not a database of a memsync server`);
    }
    const problem = firstProblem(connection, path);
    if (problem !== undefined) throw refused(`${path} is damaged (${problem})`);
  } finally {
    connection.close();
  }
}

async function openToRead(path: string): Promise<SqliteConnection> {
  try {
    return await openConnection(path, true);
  } catch (thrown) {
    throw refused(`${path} can't be opened (${messageOf(thrown)})`);
  }
}

function stepsIn(connection: SqliteConnection, path: string): readonly string[] {
  try {
    const rows = connection.prepare("select name from schema_migrations order by name").all([]);
    return (rows as { name: string }[]).map((row) => row.name);
  } catch (thrown) {
    const problem = messageOf(thrown);
    if (problem.startsWith("no such table")) {
      throw refused(`${path} is not a database of a memsync server`);
    }
    throw refused(`${path} can't be read as a database (${problem})`);
  }
}

function firstProblem(connection: SqliteConnection, path: string): string | undefined {
  try {
    const rows = connection.prepare("PRAGMA integrity_check(1)").all([]);
    const [row] = rows as { integrity_check: string }[];
    return row?.integrity_check === "ok" ? undefined : (row?.integrity_check ?? "no answer");
  } catch (thrown) {
    throw refused(`${path} is damaged (${messageOf(thrown)})`);
  }
}

function refused(message: string): AppError {
  return new AppError("invalid_request", message);
}
