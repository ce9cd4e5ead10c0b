import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Kysely } from "kysely";
import { AppError, messageOf } from "../../shared/errors.ts";
import { openDatabase, openReader, type SqliteDatabase } from "../../shared/sqlite/database.ts";
import { isDamage, storageFailure } from "../../shared/sqlite/failures.ts";
import { migrate, refuseNewer } from "../../shared/sqlite/migrate.ts";
import {
  MisfitError,
  readSchemaState,
  refuseMisfit,
  type Schema,
} from "../../shared/sqlite/misfit.ts";
import type { Home } from "./home.ts";
import { daemonMigrations, daemonSchema } from "./migrations.ts";
import type { DaemonTables } from "./tables.ts";

const PRIVATE_FILE = 0o600;
/** The permissions of the group and of everybody else. */
const OTHERS = 0o077;

/**
 * Whether a home has had a database, as the copies beside it tell, and has none now, or one without
 * anything in it. Throws as `openHomeReader` does.
 */
export async function hasLostDatabase({ database, links, choices }: Home): Promise<boolean> {
  if (![links, choices].some((copy) => existsSync(copy))) return false;
  if (!existsSync(database)) return true;
  const { reader, kind } = await openLooked(database);
  await reader.destroy();
  return kind === "empty";
}

/**
 * Throws one sentence where a home has lost its database. An empty one in its place would count for
 * all that there was: nothing linked, and nothing to be kept on this machine. A daemon that starts
 * makes one of the copies.
 */
export async function refuseLost(home: Home): Promise<void> {
  if (!(await hasLostDatabase(home))) return;
  throw new Error(
    `the database in ${home.dir} is gone: \`memsync restart\` makes a new one of the copies ` +
      "beside it and what the service has; nothing was changed",
  );
}

/** Opens a home's database and migrates it. Throws one sentence if that is not possible. */
export async function openHomeDatabase(
  path: string,
  onDamage?: (thrown: unknown) => void,
): Promise<SqliteDatabase<DaemonTables>> {
  try {
    keepPrivate(path);
    const database = await openDatabase<DaemonTables>({ path, onDamage });
    try {
      await refuseMisfit(database.reader, daemonSchema);
      await migrate(database.writer, daemonMigrations);
      return database;
    } catch (thrown) {
      await database.close();
      throw thrown;
    }
  } catch (thrown) {
    throw databaseError(path, thrown);
  }
}

/**
 * SQLite would create a file that everybody can read. It gives the files beside it the same mode,
 * and keeps that of those which were there before.
 */
function keepPrivate(path: string): void {
  if (path === ":memory:") return;
  for (const part of [path, `${path}-wal`, `${path}-shm`]) {
    const found = statSync(part, { throwIfNoEntry: false });
    if (found && (found.mode & OTHERS) !== 0) chmodSync(part, PRIVATE_FILE);
  }
  if (!existsSync(path)) closeSync(openSync(path, "a", PRIVATE_FILE));
}

/**
 * Opens a home's database for reading. Migrates it first if it is of an older version. Undefined
 * while another process is still creating it. Throws one sentence if it can't be opened.
 */
export async function openHomeReader(path: string): Promise<Kysely<DaemonTables> | undefined> {
  const opened = await openLooked(path);
  if (opened.kind === "current") return opened.reader;
  await opened.reader.destroy();
  if (opened.kind === "empty") return undefined;
  await (await openHomeDatabase(path)).close();
  return (await openLooked(path)).reader;
}

/**
 * Throws one sentence if a newer memsync wrote a home's database. Called before anything else in
 * the home is touched. Other problems are reported by whoever opens the database.
 */
export async function refuseNewerHome(path: string): Promise<void> {
  if (!existsSync(path)) return;
  try {
    await (await openLooked(path)).reader.destroy();
  } catch (thrown) {
    if (thrown instanceof Error && thrown.cause instanceof AppError) throw thrown;
  }
}

/**
 * Opens the embedded service's database for reading, without a migration; undefined where there is
 * none yet. Throws as `openHomeReader` does.
 */
export async function openServiceReader(
  path: string,
  schema: Schema,
): Promise<Kysely<DaemonTables> | undefined> {
  const { reader, kind } = await openLooked(path, schema);
  if (kind !== "empty") return reader;
  await reader.destroy();
  return undefined;
}

interface Looked {
  readonly reader: Kysely<DaemonTables>;
  readonly kind: "empty" | "older" | "current";
}

/** Throws one sentence where the database can't be used. */
async function openLooked(path: string, schema = daemonSchema): Promise<Looked> {
  let reader: Kysely<DaemonTables> | undefined;
  try {
    reader = await openReader<DaemonTables>(path);
    const state = await readSchemaState(reader, schema);
    if (state.kind === "newer") refuseNewer(state.done, schema.migrations);
    if (state.kind === "misfit") throw new MisfitError(state.reason);
    return { reader, kind: state.kind === "newer" ? "current" : state.kind };
  } catch (thrown) {
    await reader?.destroy();
    throw databaseError(path, thrown);
  }
}

/** A refusal of ours says itself what to do. */
function databaseError(path: string, thrown: unknown): Error {
  const problem = messageOf(thrown);
  const message =
    thrown instanceof AppError
      ? `${path} can't be opened: ${problem}`
      : `${path} can't be opened (${problem}): ${remedyFor(thrown, path)}`;
  return new Error(message, { cause: thrown });
}

function remedyFor(thrown: unknown, path: string): string {
  if (thrown instanceof MisfitError) {
    return (
      "`memsync restart` sets it aside, and makes a new one of what can be read of it and what " +
      "the service has"
    );
  }
  if (isDamage(thrown)) return "`memsync restart` sets it aside and rebuilds it from the service";
  return (
    storageFailure(thrown, dirname(path)) ??
    "put a copy of it back, or move it away to begin with an empty one"
  );
}
