import { expect, test } from "bun:test";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { createHostApp } from "../../server/host-app.ts";
import {
  openPostgresDatabase,
  openPostgresStore,
} from "../../server/stores/open-postgres-store.ts";
import { asAccountId, memoryIdOf } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { documentsWithLargeLogs } from "../../shared/replica/log/large-logs.ts";
import { movedAccounts } from "../../shared/replica/postgres/rows-after.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import { realWorld } from "../../shared/world-real.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { countAnew, runOnPostgres } from "../support/postgres-servers.ts";

/** Accounts of others in the database, each with a project, a token and a session. */
const OTHERS = 2000;

/** The requests that come again and again. */
const REQUESTS = [
  ["POST", "/api/projects", { id: "proj_a", name: "A", claude_md_content: "# A\n" }],
  ["POST", "/v1/projects/proj_b/sync", { memories: [{ key: "editor", value: "vim" }] }],
  ["POST", "/v1/projects/proj_b/sync", { memories: [{ key: "editor", value: "emacs" }] }],
  ["POST", "/v1/projects/proj_a/sync", { metadata: { language: "TypeScript" } }],
  ["POST", "/v1/projects/proj_a/sync", {}],
  ["POST", "/v1/memories", { layer: "user", key: "mine", content: "tabs" }],
  ["POST", "/v1/memories", { layer: "global", content: "for everybody" }],
  ["POST", "/api/projects/connect", { project_id: "proj_a", target_project_id: "proj_b" }],
  ["POST", "/api/sync", { crdt: { encoding: "yjs-v1", documents: { user: {}, global: {} } } }],
  [
    "POST",
    "/v1/projects/proj_a/sync",
    { crdt: { encoding: "yjs-v1", documents: { project: {}, user: {}, global: {} } } },
  ],
  ["GET", "/v1/memories"],
  ["GET", "/v1/memories?project_id=proj_b"],
  ["GET", "/v1/memories?project_id=proj_b&q=emacs"],
  ["GET", "/v1/memories?layer=global&limit=1"],
  ["GET", "/v1/projects"],
  ["GET", "/v1/projects/proj_a"],
  [
    "POST",
    "/v1/projects/proj_a/sync",
    {
      sessions: [
        {
          id: "sess_a",
          source: "claude-code",
          started_at: "2026-01-02T03:04:05.678Z",
          last_activity_at: "2026-01-02T03:04:05.678Z",
          message_count: 1,
        },
      ],
    },
  ],
  ["GET", "/v1/sessions"],
  ["GET", "/v1/sessions?project_id=proj_a"],
  ["GET", "/v1/sessions/sess_a"],
  ["GET", "/api/projects"],
  ["GET", "/api/projects/proj_a"],
  ["GET", "/api/projects/stats"],
  ["GET", "/api/account"],
  ["DELETE", `/v1/memories/${memoryIdOf("proj_b", "editor")}`],
  ["DELETE", "/api/projects/connect?project_id=proj_a&target_project_id=proj_b"],
  ["DELETE", "/api/projects/proj_b"],
] as const;

/** Rows of others in every table that grows with them. */
const FILL = [
  "SET memsync.words = '1'",
  `INSERT INTO owners SELECT 'acct_' || n, 1 FROM generate_series(1, ${OTHERS}) n`,
  `INSERT INTO accounts SELECT 'acct_' || n, 'name' || n, 'pro', 1 FROM generate_series(1, ${OTHERS}) n`,
  "INSERT INTO users SELECT 'user_' || id, id, 'ann', 1 FROM accounts",
  "INSERT INTO tokens SELECT 'tok_' || id, 'hash' || id, id, 'laptop', 'write', NULL, 1, NULL, 1, NULL FROM users",
  "INSERT INTO removed_tokens SELECT 'gone_' || id, 1 FROM tokens",
  `INSERT INTO documents (owner, name, seq, created_at, updated_at)
    SELECT id, part, 3, 1, 1 FROM accounts, unnest('{proj_a,global,user/ann}'::text[]) part`,
  "INSERT INTO epochs SELECT id, 1, 'e' FROM documents",
  "INSERT INTO updates SELECT id, n, 'e', 'local', '\\x00', 1, NULL, 1 FROM documents, generate_series(1, 3) n",
  "INSERT INTO snapshots SELECT id, 1, '\\x00', 1, 1, 1 FROM documents",
  "INSERT INTO texts SELECT id, 'text', 1, NULL FROM documents",
  "INSERT INTO metadata SELECT id, 'language', '1' FROM documents",
  `INSERT INTO memories (document_id, key, memory_id, value, created_at, updated_at, entry_ids,
    key_words, value_words)
    SELECT id, 'key' || n, 'mem_' || id || '_' || n, 'value', 1, 1, '', 'key', 'value'
    FROM documents, generate_series(1, 3) n`,
  `INSERT INTO revisions (document_id, kind, key, value, written_at, replaced_at)
    SELECT id, 'memory', 'key1', 'before', ${Date.now()}, ${Date.now()}
    FROM documents, generate_series(1, 3)`,
  `INSERT INTO revision_packs (document_id, kind, key, count, oldest_at, bytes, payload, checksum)
    SELECT id, 'memory', 'key1', 1, ${Date.now()}, 1, '\\x00', 1 FROM documents`,
  `INSERT INTO text_conflicts (document_id, mine, theirs, found_at)
    SELECT id, 'mine', 'theirs', 1 FROM documents`,
  "INSERT INTO sessions SELECT id, 'one', 'proj_a', 1, 1, '{}' FROM accounts",
  "INSERT INTO connections SELECT id, 'proj_a', 'proj_b', 1 FROM accounts",
  "INSERT INTO current_projects SELECT 'tok_' || id, id, 'proj_a' FROM accounts",
  "INSERT INTO kept_answers SELECT id, 'who', 'path', 'key', 'hash', '{}', 1 FROM accounts",
  "INSERT INTO request_counts SELECT id, '[]', 1, 1 FROM accounts",
  "ANALYZE",
];

function openApp(path: string) {
  return createHostApp({ path, world: realWorld, log: silentLog, loopbackOnly: true });
}

/** Large tables that were read from one end to the other, as connections tell at their end. */
function readWhole(address: string) {
  return runOnPostgres(
    address,
    `SELECT relname, seq_scan::int FROM pg_stat_user_tables
      WHERE seq_scan > 0 AND n_live_tup + seq_tup_read > ${OTHERS / 2}`,
  );
}

test("no request reads a table from one end to the other", async () => {
  const address = await (await postgresCluster()).createDatabase();
  const database = await openPostgresDatabase(address, realWorld);
  await runOnPostgres(address, ...FILL);
  const admin = new HostAdmin(database, realWorld);
  await admin.createAccount("acme", "pro");
  const terms = { account: "acme", user: "ann", name: "laptop", scope: "write" } as const;
  const { token } = await admin.createToken({ ...terms, projects: null, expiresAt: null });
  await database.close();
  await countAnew(address);
  const host = await openApp(address);
  for (const [at, [method, path, body]] of REQUESTS.entries()) {
    const response = await host.app.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, "Idempotency-Key": `${at}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    expect([path, response.status]).toEqual([path, 200]);
  }
  await host.close();
  expect(await readWhole(address)).toEqual([]);
});

test("no statement of a sweep reads a whole table, and all of them reach the last document", async () => {
  const address = await (await postgresCluster()).createDatabase();
  await (await openPostgresDatabase(address, realWorld)).close();
  const last = "WITH last AS (SELECT max(id) AS id FROM documents)";
  await runOnPostgres(
    address,
    ...FILL,
    `${last} INSERT INTO revisions (document_id, kind, key, value, written_at, replaced_at)
      SELECT id, 'memory', 'often', 'before', ${Date.now()}, ${Date.now()}
      FROM last, generate_series(1, 8)`,
    "INSERT INTO former_words SELECT row_id FROM memories ORDER BY row_id DESC LIMIT 20",
  );
  await countAnew(address);
  const { store, close } = await openPostgresStore(address, realWorld);
  await store.sweep();
  const [packed] = await runOnPostgres(
    address,
    `${last} SELECT count::int FROM revision_packs JOIN last ON document_id = last.id
      WHERE kind = 'memory' AND key = 'often'`,
  );
  expect(packed).toEqual({ count: 8 });
  expect(await runOnPostgres(address, "SELECT row_id FROM former_words")).toEqual([]);
  await runOnPostgres(
    address,
    `${last} INSERT INTO updates SELECT id, 4, 'e', 'local', decode(repeat('00', 200000), 'hex'),
      1, NULL, 1 FROM last`,
  );
  expect(await documentsWithLargeLogs(narrowTables(store.reader))).toHaveLength(1);
  await close();
  expect(await readWhole(address)).toEqual([]);
});

test("a look at some hundred accounts reads no table from one end to the other", async () => {
  const address = await (await postgresCluster()).createDatabase();
  const database = await openPostgresDatabase(address, realWorld);
  await runOnPostgres(
    address,
    ...FILL,
    "INSERT INTO incarnation (mark, epoch) VALUES ('here', 'e')",
  );
  await countAnew(address);
  const known = Array.from({ length: 500 }, (_, at) => [asAccountId(`acct_${at + 1}`), 1] as const);
  const moved = new Map([...known, [asAccountId("acct_7"), 0], [asAccountId("nobody"), 0]]);
  // By the sixth time the plan is for any values.
  for (let time = 0; time < 6; time++) {
    expect(await movedAccounts(database.reading, moved, "e")).toEqual([asAccountId("acct_7")]);
  }
  expect(await movedAccounts(database.reading, moved, "f")).toHaveLength(501);
  await database.close();
  expect(await readWhole(address)).toEqual([]);
});
