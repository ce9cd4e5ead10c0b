import { openPostgres, type PostgresDatabase } from "../../shared/postgres/database.ts";
import { SERVICE_MACHINE } from "../../shared/replica/document/machine-name.ts";
import { PostgresReplica } from "../../shared/replica/postgres/postgres-replica.ts";
import { newWriter } from "../../shared/replica/store/writer.ts";
import { pauseOf } from "../../shared/turns.ts";
import type { World } from "../../shared/world.ts";
import type { HostTables } from "./account-tables.ts";
import type { HostStore } from "./open-store.ts";
import { hostMigrationsOnPostgres } from "./postgres-schema.ts";

/**
 * Opens a host's store on a PostgreSQL, which any number of servers may do. Throws one sentence
 * where that database can't be used. `clock`: see `PostgresReplicaOptions`.
 */
export async function openPostgresStore(
  address: string,
  world: World,
  clock: "database" | "world" = "database",
): Promise<HostStore> {
  const database = await openPostgresDatabase(address);
  try {
    const store = await PostgresReplica.open({
      database,
      world,
      clock,
      writer: newWriter(world, SERVICE_MACHINE),
      pause: pauseOf(world),
    });
    return { store, database, close: () => store.close() };
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}

/** The same database for commands beside running servers: only for accounts and tokens. */
export function openPostgresDatabase(address: string): Promise<PostgresDatabase<HostTables>> {
  return openPostgres<HostTables>(address, hostMigrationsOnPostgres);
}
