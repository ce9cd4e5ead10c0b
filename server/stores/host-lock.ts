import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { type Lock, takeLock } from "../../shared/sqlite/lock.ts";

/**
 * The one path of a database's file, whatever links lead to it. SQLite keeps a database's log
 * beside this path, and the lock is there, too. A missing file is where its folder really is.
 * Throws one sentence for a link to nothing.
 */
export function realDatabasePath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw refused(`${path} is a link to a file that is not there: mend the link, or remove it`);
  }
  const folder = dirname(path);
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path;
}

/** Takes the lock of a server on a database. Undefined if another process serves that file. */
export async function lockDatabase(path: string): Promise<Lock | undefined> {
  return await takeLock(`${realDatabasePath(path)}.lock`);
}

/** Whether a process serves the database now. */
export async function isServed(path: string): Promise<boolean> {
  const lock = await lockDatabase(path);
  lock?.release();
  return lock === undefined;
}

/** Whether a file has more than one name, so that nobody can tell who uses it by another. */
export function hasOtherNames(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.nlink ?? 1) > 1;
}

/**
 * Throws one sentence if the database's file has another name. SQLite would keep one log for each
 * name, and lose what stands in either (https://www.sqlite.org/howtocorrupt.html, 2.5).
 */
export function refuseOtherNames(path: string): void {
  if (!hasOtherNames(path)) return;
  throw refused(
    `the database ${path} has another name (a hard link), by which it could be opened twice: ` +
      `find the other with \`find -samefile\` and remove it, or replace either by a copy`,
  );
}

function refused(message: string): AppError {
  return new AppError("invalid_request", message);
}
