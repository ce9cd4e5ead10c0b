import { expect, test } from "bun:test";
import {
  openPostgresDatabase,
  openPostgresStore,
} from "../../server/stores/open-postgres-store.ts";
import { isObject, parseJson } from "../../shared/json.ts";
import { realWorld } from "../../shared/world-real.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { openHost } from "../support/postgres-host.ts";
import { countAnew, runOnPostgres } from "../support/postgres-servers.ts";

const AT_ONCE = 10_000;

/**
 * So often a request may read the document's rows on average: a connection reads a list's first
 * pages as if the document were small.
 */
const READS = 5;

const memories = (from: number, value: string, count = AT_ONCE) => ({
  memories: Array.from({ length: count }, (_, at) => ({ key: `key ${from + at}`, value })),
});

const SYNC = "/v1/projects/proj_a/sync";

const REQUESTS = [
  ["POST", SYNC, memories(0, "one")],
  ["POST", SYNC, memories(AT_ONCE, "one")],
  ["POST", SYNC, memories(0, "two")],
  ["POST", SYNC, memories(7, "three", 1)],
  ["POST", SYNC, memories(7, "four", 64)],
  ["POST", SYNC, memories(7, "five", 65)],
  ["POST", SYNC, { metadata: { language: "TypeScript" } }],
  ["POST", SYNC, { claude_md_content: "# One\n" }],
  ["POST", "/v1/memories", { key: "key 9", content: "six", project_id: "proj_a" }],
  ["POST", "/v1/memories", { key: "for all", content: "seven", layer: "global" }],
  ["POST", SYNC, { crdt: { encoding: "yjs-v1", documents: { project: {}, user: {} } } }],
  ["GET", "/api/projects/proj_a"],
  ["GET", "/api/projects"],
  ["GET", "/api/projects/stats"],
  ["GET", "/v1/projects/proj_a"],
  ["GET", "/v1/memories?project_id=proj_a"],
  ["GET", "/v1/memories?project_id=proj_a&q=two"],
  ["GET", "/v1/memories?project_id=proj_a&limit=10"],
  ["GET", "/v1/memories?project_id=proj_a&layer=project&limit=10"],
  ["DELETE", "/api/projects/proj_a"],
] as const;

/** The list's pages, of all layers together. */
const PAGE = 1000;

/** No table is ever analyzed, as after a large import. */
async function neverAnalyzed(): Promise<string> {
  const address = await (await postgresCluster()).createDatabase();
  await (await openPostgresDatabase(address, realWorld)).close();
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
  const ask = async (method: string, path: string, body?: object): Promise<string> => {
    const response = await host.app.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { authorization: `Bearer ${host.token}` },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    expect([path, response.status]).toEqual([path, 200]);
    return await response.text();
  };
  const readInPages = async () => {
    let cursor: unknown;
    do {
      const rest = typeof cursor === "string" ? `&cursor=${cursor}` : "";
      const page = parseJson(
        await ask("GET", `/v1/memories?project_id=proj_a&limit=${PAGE}${rest}`),
      );
      cursor = isObject(page) ? page.next_cursor : undefined;
    } while (typeof cursor === "string");
  };
  // Plans for small tables are made, and kept.
  for (let at = 0; at < 20; at += 1) {
    await ask("POST", "/v1/projects/proj_small/sync", memories(at, "small", 1 + (at % 3)));
    await ask("POST", "/v1/projects/proj_small/sync", memories(at, `small ${at}`, 100));
    await ask("GET", "/v1/memories?project_id=proj_small&q=small");
  }
  for (const [method, path, body] of REQUESTS) {
    if (method === "DELETE") await readInPages();
    await ask(method, path, body);
  }
}

test("a request reads the rows of a large document a few times, whatever it is about", async () => {
  const address = await neverAnalyzed();
  await countAnew(address);
  await askAll(address);
  // What is too old or too much of the revisions that 10,000 changes and a deletion have left.
  const { store, close } = await openPostgresStore(address, realWorld);
  await store.sweep();
  await close();
  const most = READS * REQUESTS.length * 2 * AT_ONCE;
  expect(
    await runOnPostgres(
      address,
      `SELECT relname, idx_tup_fetch::int, seq_tup_read::int FROM pg_stat_user_tables
        WHERE coalesce(idx_tup_fetch, 0) + seq_tup_read > ${most}`,
    ),
  ).toEqual([]);
}, 120_000);
