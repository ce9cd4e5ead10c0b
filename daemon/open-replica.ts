import { ReplicaStore } from "../shared/replica/store.ts";
import { newWriter } from "../shared/replica/writer.ts";
import { openDatabase, type SqliteDatabase } from "../shared/sqlite/database.ts";
import { migrate } from "../shared/sqlite/migrate.ts";
import type { World } from "../shared/world.ts";
import { daemonMigrations } from "./migrations.ts";
import { lowestAcked } from "./sync/positions.ts";
import type { DaemonTables } from "./tables.ts";

/** Opens a home's database and brings it to the present schema. */
export async function openHomeDatabase(path: string): Promise<SqliteDatabase<DaemonTables>> {
  const database = await openDatabase<DaemonTables>({ path });
  try {
    await migrate(database.writer, daemonMigrations);
    return database;
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}

/** The home's replica. What some service has not acknowledged survives compaction. */
export async function openReplica(path: string, world: World): Promise<ReplicaStore<DaemonTables>> {
  return new ReplicaStore({
    database: await openHomeDatabase(path),
    world,
    writer: newWriter(world),
    droppable: lowestAcked,
  });
}
