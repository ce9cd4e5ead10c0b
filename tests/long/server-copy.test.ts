import { expect, test } from "bun:test";
import pg from "pg";
import { copyDatabase } from "../../server/copy/copy-database.ts";
import { openPostgresDatabase } from "../../server/stores/open-postgres-store.ts";
import { realWorld } from "../../shared/world-real.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";
import { waitFor } from "../support/wait-for.ts";

test("a copy whose one side has long to do does not lose the other meanwhile", async () => {
  const cluster = await postgresCluster();
  const [from, to] = [await cluster.createDatabase(), await cluster.createDatabase()];
  for (const address of [from, to]) await (await openPostgresDatabase(address, realWorld)).close();
  await runOnPostgres(
    from,
    "INSERT INTO documents (owner, name, created_at, updated_at) VALUES ('acme', 'global', 1, 1)",
  );
  await using held = await holdTable(to, "documents");
  const copying = copyDatabase({ from, to, world: realWorld });
  // PostgreSQL ends who stands still within a transaction for ten seconds, as a server sets it.
  await waitFor("a source that has waited for longer", async () => {
    if (Bun.peek.status(copying) !== "pending") return true;
    const [waiting] = await runOnPostgres(
      from,
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
        AND state = 'idle in transaction' AND clock_timestamp() - state_change > '10.5s'`,
    );
    return waiting !== undefined;
  });
  await held.release();
  expect(await copying).toEqual({ documents: 1, rows: 1 });
});

/** Keeps everybody else from writing to a table. */
async function holdTable(address: string, table: string) {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN SHARE MODE`);
  let ending: Promise<void> | undefined;
  const release = () => {
    ending ??= client.end();
    return ending;
  };
  return { release, [Symbol.asyncDispose]: release };
}
