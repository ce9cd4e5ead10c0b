import { afterEach } from "bun:test";
import pg from "pg";
import { openPostgresStore } from "../../server/stores/open-postgres-store.ts";
import type { HostStore } from "../../server/stores/open-store.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { postgresCluster } from "./postgres-cluster.ts";
import { waitFor } from "./wait-for.ts";

/** Stores of servers that share one PostgreSQL database, closed after the test. */
export interface PostgresServers {
  readonly address: string;
  open(world?: World): Promise<HostStore>;
}

/** Makes an empty database for a test, with as many servers on it as are asked for. */
export function serversOfTests(): () => Promise<PostgresServers> {
  const opened: HostStore[] = [];
  afterEach(async () => {
    for (const host of opened.splice(0)) await host.close();
  });
  return async () => {
    const cluster = await postgresCluster();
    const address = await cluster.createDatabase();
    return {
      address,
      async open(world = realWorld) {
        const host = await openPostgresStore(address, world);
        opened.push(host);
        return host;
      },
    };
  };
}

/** Runs statements on a connection of their own; resolves to the rows of the last one. */
export async function runOnPostgres(
  address: string,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/**
 * Counts what is read from now on alone. What a connection has read is counted at its end at the
 * latest, so those of `runOnPostgres` have to be gone first.
 */
export async function countAnew(address: string): Promise<void> {
  await waitFor("the end of connections that count still", async () => {
    const others = await runOnPostgres(
      address,
      `SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid() AND application_name <> 'memsync'`,
    );
    return others.length === 0;
  });
  await runOnPostgres(address, "SELECT pg_stat_reset()");
}
