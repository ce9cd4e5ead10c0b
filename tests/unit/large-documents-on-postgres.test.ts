import { expect, test } from "bun:test";
import { openPostgresDatabase } from "../../server/stores/open-postgres-store.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { openHost } from "../support/postgres-host.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";

const AT_ONCE = 10_000;

/**
 * So often a request may read the document's rows: a connection reads a list's first pages as if
 * the document were small.
 */
const READS = 8;

const memories = (from: number, value: string, count = AT_ONCE) => ({
  memories: Array.from({ length: count }, (_, at) => ({ key: `key ${from + at}`, value })),
});

const REQUESTS = [
  ["POST", "/v1/projects/proj_a/sync", memories(0, "one")],
  ["POST", "/v1/projects/proj_a/sync", memories(AT_ONCE, "one")],
  ["POST", "/v1/projects/proj_a/sync", memories(0, "two")],
  ["GET", "/api/projects/proj_a"],
  ["GET", "/v1/memories?project_id=proj_a"],
  ["GET", "/v1/memories?project_id=proj_a&q=two"],
  ["GET", "/v1/memories?project_id=proj_a&limit=10"],
  ["DELETE", "/api/projects/proj_a"],
] as const;

/** No table is ever analyzed, as after a large import. */
async function neverAnalyzed(): Promise<string> {
  const address = await (await postgresCluster()).createDatabase();
  await (await openPostgresDatabase(address)).close();
  const tables = await runOnPostgres(address, "SELECT relname FROM pg_stat_user_tables");
  await runOnPostgres(
    address,
    ...tables.map(({ relname }) => `ALTER TABLE ${relname} SET (autovacuum_enabled = false)`),
  );
  return address;
}

/** Asks a server, and has its connections end: they tell then at the latest what they have read. */
async function askAll(address: string): Promise<void> {
  await using host = await openHost(address);
  const ask = async (method: string, path: string, body?: object) => {
    const response = await host.app.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { authorization: `Bearer ${host.token}` },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    expect([path, response.status]).toEqual([path, 200]);
    await response.text();
  };
  // Plans for small tables are made, and kept.
  for (let at = 0; at < 20; at += 1) {
    await ask("POST", "/v1/projects/proj_small/sync", memories(at, "small", 1 + (at % 3)));
    await ask("POST", "/v1/projects/proj_small/sync", memories(at, `small ${at}`, 100));
    await ask("GET", "/v1/memories?project_id=proj_small&q=small");
  }
  for (const [method, path, body] of REQUESTS) await ask(method, path, body);
}

test("a request reads the rows of a large document a few times, whatever it is about", async () => {
  const address = await neverAnalyzed();
  await runOnPostgres(address, "SELECT pg_stat_reset()");
  await askAll(address);
  const most = READS * REQUESTS.length * 2 * AT_ONCE;
  expect(
    await runOnPostgres(
      address,
      `SELECT relname, idx_tup_fetch::int, seq_tup_read::int FROM pg_stat_user_tables
        WHERE coalesce(idx_tup_fetch, 0) + seq_tup_read > ${most}`,
    ),
  ).toEqual([]);
}, 120_000);
