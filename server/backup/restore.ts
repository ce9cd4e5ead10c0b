import { existsSync } from "node:fs";
import { copyFile, open, rename, rm } from "node:fs/promises";
import { createPrivateFile, keepAs, renameDurably, syncFile } from "../../shared/durable-files.ts";
import { AppError } from "../../shared/errors.ts";
import { base32 } from "../../shared/ids.ts";
import { prepareRows, type SqliteConnection } from "../../shared/sqlite/connection.ts";
import { openConnection } from "../../shared/sqlite/database.ts";
import { writeFailure } from "../../shared/sqlite/failures.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import type { World } from "../../shared/world.ts";
import { hasOtherNames, lockDatabase, realDatabasePath } from "../stores/host-lock.ts";
import { SIDE_FILES } from "./back-up.ts";
import { checkServerDatabase } from "./check-database.ts";

const RANDOM_BYTES = 5;

/** How a backup is put back. */
export interface RestoreOptions {
  readonly file: string;
  /** The server's database, which may be missing or damaged. */
  readonly database: string;
  readonly world: World;
}

/** What a restore has done. */
export interface Restored {
  /** Where the former database is now; undefined if there was none. */
  readonly setAside: string | undefined;
  /** How many tokens were revoked or removed after the backup, and are revoked again. */
  readonly revoked: number;
}

/**
 * Puts a backup in the place of a server's database while no server uses it. The former database is
 * kept under another name. At every moment there is a database, and the new one was checked and is
 * on the disk. Replicas notice by themselves: the server's next start has a new epoch, and a
 * position that the backup never reached makes both sides exchange everything. Throws one sentence,
 * with nothing changed.
 */
export async function restore({ file, database: named, world }: RestoreOptions): Promise<Restored> {
  // A link keeps leading to the database. Replacing it would leave the old one there.
  const database = realDatabasePath(named);
  if (!existsSync(file)) throw refused(`there is no backup at ${file}`);
  const beside = SIDE_FILES.find((suffix) => existsSync(`${file}${suffix}`));
  if (beside !== undefined) {
    throw refused(`${file}${beside} is there: ${file} is a database in use, not a backup of one`);
  }
  const lock = await lockDatabase(database);
  if (!lock) throw refused(`a server runs on ${database}: stop it first`);
  const coming = `${database}.restoring-${base32(world.randomBytes(RANDOM_BYTES))}`;
  try {
    createPrivateFile(coming);
    await copyFile(file, coming);
    await checkServerDatabase(coming, file);
    const revoked = await revokeAgain(database, coming);
    await syncFile(coming);
    const setAside = await setAsidePresent(database, world);
    await renameDurably(coming, database);
    return { setAside, revoked };
  } catch (thrown) {
    for (const part of ["", ...SIDE_FILES]) await rm(`${coming}${part}`, { force: true });
    if (thrown instanceof AppError) throw thrown;
    throw refused(`not restored: ${writeFailure(thrown, [database])}`);
  } finally {
    lock.release();
  }
}

/**
 * A token that was revoked stays revoked, however old the backup, as far as the database can be
 * read.
 */
async function revokeAgain(database: string, coming: string): Promise<number> {
  const ended = existsSync(database) ? await endedIn(database) : [];
  const connection = await openConnection(coming, false);
  try {
    const revoke = connection.prepare(
      "update tokens set revoked_at = ? where id = ? and revoked_at is null",
    );
    const isOlder = !hasTable(connection, "removed_tokens");
    connection.exec("BEGIN");
    let changed = 0;
    for (const { id, at, removed } of ended) {
      changed += Number(revoke.run([at, id]).changes);
      // An even older backup may be restored next.
      if (removed === 0 || isOlder) continue;
      connection.prepare("insert or ignore into removed_tokens values (?, ?)").run([id, at]);
    }
    connection.exec("COMMIT");
    return changed;
  } finally {
    connection.close();
  }
}

/** A token that was revoked, or removed with its user or account, and when. */
interface Ended {
  readonly id: string;
  readonly at: number;
  readonly removed: 0 | 1;
}

function hasTable(connection: SqliteConnection, name: string): boolean {
  const sql = "select 1 from sqlite_schema where type = 'table' and name = ?";
  return connection.prepare(sql).all([name]).length > 0;
}

async function endedIn(database: string): Promise<readonly Ended[]> {
  try {
    if (!(await hasPages(database))) return [];
    const ended = await readEnded(database);
    // A database that can be read may be written, so the log of its last server is merged into it.
    // A database with a second name is left alone: by that name it may be in use, with another log.
    if (!hasOtherNames(database)) await foldLogIn(database);
    return ended;
  } catch {
    // The database is damaged, perhaps the reason to replace it. All its files are kept.
    return [];
  }
}

/** The magic string that begins every database (https://www.sqlite.org/fileformat.html). */
const MAGIC = "SQLite format 3\0";

/** Whether a file begins like a database. SQLite would delete the log of any other file. */
async function hasPages(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    return bytesRead === HEADER_BYTES && buffer.toString("latin1").startsWith(MAGIC);
  } finally {
    await file.close();
  }
}

/** The smallest page of a database. */
const HEADER_BYTES = 512;

async function readEnded(database: string): Promise<readonly Ended[]> {
  const connection = await openConnection(database, true);
  try {
    const revoked =
      "select id, revoked_at as at, 0 as removed from tokens where revoked_at is not null";
    const removed = "select id, removed_at as at, 1 as removed from removed_tokens";
    const isOlder = !hasTable(connection, "removed_tokens");
    const sql = `${isOlder ? revoked : `${revoked} union all ${removed}`} order by id`;
    return prepareRows<Ended>(connection, sql).all([]);
  } finally {
    connection.close();
  }
}

async function foldLogIn(database: string): Promise<void> {
  const connection = await openConnection(database, false);
  try {
    connection.exec("PRAGMA busy_timeout = 5000");
    connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all([]);
  } finally {
    connection.close();
  }
}

async function setAsidePresent(database: string, world: World): Promise<string | undefined> {
  const parts = ["", ...SIDE_FILES].filter((suffix) => existsSync(`${database}${suffix}`));
  if (parts.length === 0) return undefined;
  const name = `${database}.before-restore-${timestampOf(world.now()).replace(/[:.]/g, "-")}`;
  for (const part of parts) {
    // The database keeps its name as well until the new one takes it, in one step.
    if (part === "") await keepAs(database, name);
    else await rename(`${database}${part}`, `${name}${part}`);
  }
  return name;
}

function refused(message: string): AppError {
  return new AppError("invalid_request", message);
}
