import { afterAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { openPostgresDatabase } from "../../server/stores/open-postgres-store.ts";
import { hostMigrationsOnPostgres } from "../../server/stores/postgres-schema.ts";
import { parseProjectId } from "../../shared/ids.ts";
import { isObject } from "../../shared/json.ts";
import { openPostgres } from "../../shared/postgres/database.ts";
import { realWorld } from "../../shared/world-real.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";
import { openHost } from "../support/postgres-host.ts";
import { runOnPostgres } from "../support/postgres-servers.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-indexes-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a B-tree of PostgreSQL holds of a row, with its header. */
const INDEX_ROW_MAX = 2704;

/** More than what each column of a row takes besides its text. */
const BESIDE_TEXT = 16;

const ID = 5 + 64;
const USER_DOCUMENT = "user/".length + ID;
const HASH = 64;
const NAME = 200;
const MEMORY_KEY = 512;

/** The longest text of each column that is in an index, in bytes of UTF-8. */
const LONGEST: Readonly<Record<string, number>> = {
  "accounts.id": ID,
  "accounts.name": NAME,
  "changed_tokens.account_id": ID,
  "connections.account": ID,
  "connections.project_a": ID,
  "connections.project_b": ID,
  "current_projects.account": ID,
  "current_projects.token_id": ID,
  "documents.name": USER_DOCUMENT,
  "documents.owner": ID,
  "kept_answers.account": ID,
  // As `onceOf` takes it.
  "kept_answers.key": 255,
  "kept_answers.path": "/api/projects//sync".length + ID,
  // As `keptWho` keeps it; users' ids and projects' are ASCII.
  "kept_answers.who": 1500,
  "memories.key": MEMORY_KEY,
  "memories.memory_id": ID,
  // Longer ones are in `long_metadata`.
  "metadata.key": 4 * 600,
  "owners.owner": ID,
  "removed_tokens.id": ID,
  "request_counts.account": ID,
  "revision_packs.key": MEMORY_KEY,
  "revision_packs.kind": "memory".length,
  "revisions.key": MEMORY_KEY,
  "revisions.kind": "memory".length,
  "schema_migrations.name": 100,
  "sessions.account": ID,
  "sessions.id": ID,
  "tokens.hash": HASH,
  "tokens.id": ID,
  "tokens.user_id": ID,
  "users.account_id": ID,
  "users.id": ID,
  "users.name": NAME,
};

test("an index has room for the longest texts of a row", async () => {
  const address = await (await postgresCluster()).createDatabase();
  await (await openPostgresDatabase(address, realWorld)).close();
  const rows = await runOnPostgres(
    address,
    `SELECT index.relname AS index, whole.relname || '.' || attname AS column
      FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
        JOIN pg_class AS whole ON whole.oid = indrelid
        JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY(indkey)
      WHERE whole.relnamespace = 'public'::regnamespace AND atttypid = 'text'::regtype`,
  );
  const columns = rows.map((row) => ({ index: String(row.index), column: String(row.column) }));
  expect([...new Set(columns.map(({ column }) => column))].sort()).toEqual(Object.keys(LONGEST));
  const sizes = new Map<string, number>();
  for (const { index, column } of columns) {
    const others = sizes.get(index) ?? 2 * BESIDE_TEXT;
    sizes.set(index, others + (LONGEST[column] ?? 0) + BESIDE_TEXT);
  }
  expect([...sizes].filter(([, bytes]) => bytes > INDEX_ROW_MAX)).toEqual([]);
});

const random = (length: number) => randomBytes(length).toString("base64").slice(0, length);

/** The same for both databases. */
const LONG = { metadata: random(60_000), memory: random(512), once: random(255) };
const BOUND_TO = Array.from({ length: 200 }).flatMap((_, at) => {
  return parseProjectId(`proj_${at}${"x".repeat(50)}`) ?? [];
});

/** What a host at `path` answers where everything is as long as it may be. */
async function answersAtLimits(path: string) {
  await using host = await openHost(path);
  const { token } = await new HostAdmin(host.database, realWorld).createToken({
    account: "acme",
    user: "ann",
    name: "bound",
    scope: "write",
    projects: BOUND_TO,
    expiresAt: null,
  });
  const answers: { readonly status: number; readonly metadata: unknown }[] = [];
  const ask = async (method: string, at: string, body?: object, by = host.token) => {
    const response = await host.app.fetch(
      new Request(`http://127.0.0.1${at}`, {
        method,
        headers: { authorization: `Bearer ${by}`, "idempotency-key": LONG.once },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    const answer: unknown = await response.json();
    const metadata = isObject(answer) ? answer.metadata : undefined;
    answers.push({ status: response.status, metadata });
  };
  const sync = "/v1/projects/proj_a/sync";
  await ask("POST", sync, { metadata: { [LONG.metadata]: 1, short: 1 } });
  await ask("POST", "/api/projects/proj_a/sync", { metadata: { [LONG.metadata]: 2 } });
  await ask("GET", "/api/projects/proj_a");
  await ask("POST", "/api/projects", { id: "proj_a", metadata: { [LONG.metadata]: null } });
  await ask("GET", "/api/projects/proj_a");
  await ask("POST", "/v1/memories", { key: LONG.memory, content: "one", layer: "global" });
  await ask("POST", "/v1/memories", { key: LONG.memory, content: "one", layer: "global" });
  await ask("POST", `/v1/projects/${BOUND_TO[0]}/sync`, { metadata: { a: 1 } }, token);
  await ask("POST", `/v1/projects/${BOUND_TO[0]}/sync`, { metadata: { a: 1 } }, token);
  return answers;
}

test("what is as long as it may be is stored on both databases", async () => {
  const address = await (await postgresCluster()).createDatabase();
  const answers = await answersAtLimits(join(folder, "limits.db"));
  expect(await answersAtLimits(address)).toEqual(answers);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test("a long key of a database from before is one row, whichever program writes it", async () => {
  const address = await (await postgresCluster()).createDatabase();
  const step = hostMigrationsOnPostgres.findIndex(({ name }) => /long-metadata/.test(name));
  const former = hostMigrationsOnPostgres.filter((_, at) => at !== step);
  await (await openPostgres(address, former, realWorld)).close();
  const put = (value: number) => `INSERT INTO metadata (document_id, key, value)
    VALUES (1, repeat('k', 5000), '${value}')
    ON CONFLICT (document_id, key) DO UPDATE SET value = excluded.value`;
  await runOnPostgres(
    address,
    "INSERT INTO documents (owner, name, created_at, updated_at) VALUES ('acct', 'proj_a', 1, 1)",
    put(1),
  );
  await (await openPostgresDatabase(address, realWorld)).close();
  for (const value of [2, 3]) {
    const rows = await runOnPostgres(
      address,
      put(value),
      "SELECT key = repeat('k', 5000) AS whole, value, tableoid::regclass AS table FROM metadata",
    );
    expect(rows).toEqual([{ whole: true, value: `${value}`, table: "long_metadata" }]);
  }
});
