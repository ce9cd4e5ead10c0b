import { type Log, silentLog } from "../../shared/log.ts";
import { openPostgres, type PostgresDatabase } from "../../shared/postgres/database.ts";
import { DatabaseWatch } from "../../shared/postgres/database-watch.ts";
import { schemaPartsOf } from "../../shared/postgres/schema-parts.ts";
import { SERVICE_MACHINE } from "../../shared/replica/document/machine-name.ts";
import { PostgresReplica } from "../../shared/replica/postgres/postgres-replica.ts";
import { newWriter } from "../../shared/replica/store/writer.ts";
import { pauseOf } from "../../shared/turns.ts";
import type { World } from "../../shared/world.ts";
import type { HostTables } from "./account-tables.ts";
import type { ConnectionFigures, HostStore } from "./open-store.ts";
import { hostMigrationsOnPostgres } from "./postgres-schema.ts";

/** How a store on a PostgreSQL runs. */
export interface PostgresStoreOptions {
  /** See `PostgresReplicaOptions`. */
  readonly clock?: "database" | "world";
  readonly log?: Log;
}

/**
 * Opens a host's store on a PostgreSQL, which any number of servers may do. Throws one sentence
 * where that database can't be used.
 */
export async function openPostgresStore(
  address: string,
  world: World,
  { clock = "database", log = silentLog }: PostgresStoreOptions = {},
): Promise<HostStore> {
  const database = await openPostgresDatabase(address, world);
  try {
    const store = await PostgresReplica.open({
      database,
      world,
      clock,
      writer: newWriter(world, SERVICE_MACHINE),
      pause: pauseOf(world),
    });
    const watch = new DatabaseWatch({
      pool: database.reading,
      writing: database.writing,
      parts: schemaPartsOf(hostMigrationsOnPostgres),
      world,
      log,
    });
    return {
      store,
      database,
      problem: () => watch.problem,
      connections: () => figuresOf(database),
      onAnew: (callback) => store.onAnew(callback),
      async close() {
        await watch.stop();
        await store.close();
      },
    };
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}

/** The same database for commands beside running servers: only for accounts and tokens. */
export function openPostgresDatabase(
  address: string,
  world: World,
): Promise<PostgresDatabase<HostTables>> {
  return openPostgres<HostTables>(address, hostMigrationsOnPostgres, world);
}

function figuresOf({ reading, writing }: PostgresDatabase<HostTables>): ConnectionFigures {
  const [one, other] = [reading.figures, writing.figures];
  return {
    open: one.open + other.open,
    used: one.used + other.used,
    waiting: one.waiting + other.waiting,
  };
}
