import { existsSync, realpathSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { createPrivateFile, renameDurably, syncFile } from "../../shared/durable-files.ts";
import { AppError } from "../../shared/errors.ts";
import { base32 } from "../../shared/ids.ts";
import { openConnection } from "../../shared/sqlite/database.ts";
import { writeFailure } from "../../shared/sqlite/failures.ts";
import type { World } from "../../shared/world.ts";
import { realDatabasePath, refuseOtherNames } from "../stores/host-lock.ts";
import { checkServerDatabase } from "./check-database.ts";

const RANDOM_BYTES = 5;

/** The files that SQLite keeps beside a database. A copy must not get those of another database. */
export const SIDE_FILES = ["-wal", "-shm", "-journal"] as const;

/** How a backup is made. */
export interface BackupOptions {
  /** The server's database. */
  readonly database: string;
  /** Where to put the copy. */
  readonly file: string;
  /** Replace an existing file. */
  readonly force: boolean;
  readonly world: World;
}

/**
 * Copies a server's database as of one moment, whether the server runs or not, with everything that
 * was acknowledged before the call. The copy is checked and on the disk before it gets its name.
 * Resolves to its size in bytes; throws one sentence.
 *
 * ```
 * const bytes = await backUp({ database, file: "copy.db", force: false, world });
 * ```
 */
export async function backUp({
  database: named,
  file,
  force,
  world,
}: BackupOptions): Promise<number> {
  const database = realDatabasePath(named);
  refuseTarget(database, file, force);
  // If the database has two names, SQLite keeps a log beside each. By one name the other's log is
  // not seen, and the copy would lack what is in it.
  refuseOtherNames(database);
  const partial = `${file}.partial-${base32(world.randomBytes(RANDOM_BYTES))}`;
  try {
    createPrivateFile(partial);
    await copyDatabase(database, partial);
    await checkServerDatabase(partial, `the copy of ${database}`);
    await syncFile(partial);
    const { size } = await stat(partial);
    refuseTarget(database, file, force);
    await renameDurably(partial, file);
    return size;
  } catch (thrown) {
    await rm(partial, { force: true });
    throw thrown instanceof AppError
      ? thrown
      : refused(`no backup at ${file}: ${writeFailure(thrown, [file, database])}`);
  }
}

function refuseTarget(database: string, file: string, force: boolean): void {
  if (!existsSync(database)) throw refused(`there is no database at ${database}`);
  if (isPartOf(database, file)) throw refused(`${file} belongs to the database itself`);
  const beside = SIDE_FILES.find((suffix) => existsSync(`${file}${suffix}`));
  if (beside !== undefined) {
    throw refused(`${file}${beside} is there, of another database: choose another name`);
  }
  if (!force && existsSync(file)) {
    throw refused(`${file} is there already: choose another name, or add --force`);
  }
}

function isPartOf(database: string, file: string): boolean {
  const real = (path: string) => (existsSync(path) ? realpathSync(path) : path);
  return ["", ".lock", ...SIDE_FILES].some((suffix) => real(`${database}${suffix}`) === real(file));
}

/** Uses SQLite's own backup of a database in use: a read transaction, which blocks no writer. */
async function copyDatabase(from: string, to: string): Promise<void> {
  const connection = await openConnection(from, true);
  try {
    connection.exec("PRAGMA busy_timeout = 5000");
    connection.prepare("VACUUM INTO ?").run([to]);
  } finally {
    connection.close();
  }
}

function refused(message: string): AppError {
  return new AppError("invalid_request", message);
}
