import { type Kysely, sql } from "kysely";
import { messageOf } from "../shared/errors.ts";
import { ReplicaStore } from "../shared/replica/store.ts";
import { newWriter } from "../shared/replica/writer.ts";
import { openDatabase, openReader, type SqliteDatabase } from "../shared/sqlite/database.ts";
import { migrate } from "../shared/sqlite/migrate.ts";
import type { World } from "../shared/world.ts";
import { daemonMigrations } from "./migrations.ts";
import { lowestAcked } from "./sync/positions.ts";
import type { DaemonTables } from "./tables.ts";

/** Opens a home's database and brings it to the present schema. Throws one sentence if it can't. */
export async function openHomeDatabase(path: string): Promise<SqliteDatabase<DaemonTables>> {
  try {
    const database = await openDatabase<DaemonTables>({ path });
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
  let reader = await openLooked(path);
  if (reader && !(await isPresent(reader))) {
    await reader.destroy();
    await (await openHomeDatabase(path)).close();
    reader = await openLooked(path);
  }
  return reader;
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

async function isPresent(reader: Kysely<DaemonTables>): Promise<boolean> {
  const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(reader);
  const done = new Set(rows.map(({ name }) => name));
  return daemonMigrations.every(({ name }) => done.has(name));
}

function databaseError(path: string, thrown: unknown): Error {
  return new Error(
    `${path} can't be opened (${messageOf(thrown)}): put a copy of it back, or move it away to ` +
      "begin with an empty one",
    { cause: thrown },
  );
}

/**
 * The home's replica, whose documents call this machine `machine`. What some service has not
 * acknowledged survives compaction.
 */
export async function openReplica(
  path: string,
  world: World,
  machine?: string,
): Promise<ReplicaStore<DaemonTables>> {
  return new ReplicaStore({
    database: await openHomeDatabase(path),
    world,
    writer: newWriter(world, machine),
    droppable: lowestAcked,
  });
}
