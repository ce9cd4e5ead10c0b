import { expect, test } from "bun:test";
import pg from "pg";
import { postgresCluster } from "../support/postgres-cluster.ts";

test("a real PostgreSQL starts, and each test has an empty database of its own", async () => {
  const cluster = await postgresCluster();
  const [first, second] = await Promise.all([cluster.createDatabase(), cluster.createDatabase()]);
  expect(first).not.toBe(second);
  const client = new pg.Client({ connectionString: first });
  await client.connect();
  const { rows } = await client.query(
    "SELECT current_setting('server_version_num')::int AS number",
  );
  await client.end();
  expect(rows[0].number).toBeGreaterThanOrEqual(150_000);
});
