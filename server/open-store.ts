import { replicaMigrations } from "../shared/replica/migrations.ts";
import { ReplicaStore } from "../shared/replica/store.ts";
import { newWriter } from "../shared/replica/writer.ts";
import { openDatabase } from "../shared/sqlite/database.ts";
import { migrate } from "../shared/sqlite/migrate.ts";
import type { World } from "../shared/world.ts";
import { serviceMigrations } from "./stores/migrations.ts";
import type { ServiceTables } from "./stores/tables.ts";

/** Opens a service's database, `:memory:` or a file, and brings it to the present schema. */
export async function openServiceStore(
  path: string,
  world: World,
): Promise<ReplicaStore<ServiceTables>> {
  const database = await openDatabase<ServiceTables>({ path });
  try {
    await migrate(database.writer, [...replicaMigrations, ...serviceMigrations]);
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
  return new ReplicaStore({ database, world, writer: newWriter(world) });
}
