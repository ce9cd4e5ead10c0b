import { existsSync } from "node:fs";
import { type Kysely, sql } from "kysely";
import { AppError, messageOf } from "../shared/errors.ts";
import { openDatabase, openReader, type SqliteDatabase } from "../shared/sqlite/database.ts";
import { isDamage, storageFailure } from "../shared/sqlite/failures.ts";
import { migrate, refuseNewer } from "../shared/sqlite/migrate.ts";
import { daemonMigrations } from "./migrations.ts";
import type { DaemonTables } from "./tables.ts";

/** Opens a home's database and brings it to the present schema. Throws one sentence if it can't. */
export async function openHomeDatabase(
  path: string,
  onDamage?: (thrown: unknown) => void,
): Promise<SqliteDatabase<DaemonTables>> {
  try {
    const database = await openDatabase<DaemonTables>({ path, onDamage });
    try {
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
 * Opens a home's database for reading, brought to the present schema if an older memsync wrote it;
 * undefined while the process that makes it is not done. Throws one sentence if it can't.
 */
export async function openHomeReader(path: string): Promise<Kysely<DaemonTables> | undefined> {
  const reader = await openLooked(path);
  if (!reader || (await isPresent(path, reader))) return reader;
  await reader.destroy();
  await (await openHomeDatabase(path)).close();
  return await openLooked(path);
}

/**
 * Throws one sentence when a newer memsync wrote a home's database, before anything else of the
 * home is touched. What else may be wrong with it, whoever opens it says.
 */
export async function refuseNewerHome(path: string): Promise<void> {
  if (!existsSync(path)) return;
  try {
    const reader = await openLooked(path);
    if (reader) await isPresent(path, reader);
    await reader?.destroy();
  } catch (thrown) {
    if (thrown instanceof Error && thrown.cause instanceof AppError) throw thrown;
  }
}

async function openLooked(path: string): Promise<Kysely<DaemonTables> | undefined> {
  try {
    const reader = await openReader<DaemonTables>(path);
    // The file is not looked into before this; 0.1.0 makes the inbox last.
    await reader.selectFrom("inbox").select("id").limit(1).execute();
    return reader;
  } catch (thrown) {
    if (messageOf(thrown).startsWith("no such table")) return undefined;
    throw databaseError(path, thrown);
  }
}

/** Closes the reader and throws one sentence where a newer memsync wrote what it reads. */
async function isPresent(path: string, reader: Kysely<DaemonTables>): Promise<boolean> {
  try {
    const steps = sql<{ name: string }>`select name from schema_migrations order by name`;
    const done = new Set((await steps.execute(reader)).rows.map(({ name }) => name));
    refuseNewer(done, daemonMigrations);
    return daemonMigrations.every(({ name }) => done.has(name));
  } catch (thrown) {
    await reader.destroy();
    throw databaseError(path, thrown);
  }
}

/** A refusal says itself what to do. */
function databaseError(path: string, thrown: unknown): Error {
  const problem = messageOf(thrown);
  const message =
    thrown instanceof AppError
      ? `${path} can't be opened: ${problem}`
      : `${path} can't be opened (${problem}): ${remedyFor(thrown)}`;
  return new Error(message, { cause: thrown });
}

function remedyFor(thrown: unknown): string {
  if (isDamage(thrown)) return "`memsync up` sets it aside and rebuilds it from the service";
  return (
    storageFailure(thrown) ?? "put a copy of it back, or move it away to begin with an empty one"
  );
}
