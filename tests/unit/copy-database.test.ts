import { afterAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { HostAdmin } from "../../server/accounts/host-admin.ts";
import { copyDatabase } from "../../server/copy/copy-database.ts";
import { rowsOf } from "../../server/copy/table-rows.ts";
import { createHostApp, type HostApp } from "../../server/host-app.ts";
import { openHostStore } from "../../server/stores/open-store.ts";
import { asAccountId } from "../../shared/ids.ts";
import { silentLog } from "../../shared/log.ts";
import { globalDocument } from "../../shared/replica/document/address.ts";
import { realWorld } from "../../shared/world-real.ts";
import { postgresCluster } from "../support/postgres-cluster.ts";

const folder = mkdtempSync(join(tmpdir(), "memsync-copy-"));
afterAll(() => rmSync(folder, { recursive: true }));

const world = realWorld;

const MEBIBYTE = 1024 * 1024;

function openApp(path: string): Promise<HostApp> {
  return createHostApp({ path, world, log: silentLog, loopbackOnly: true, limits: "off" });
}

async function call({ app }: HostApp, token: string, [method, path, body]: readonly unknown[]) {
  const response = await app.fetch(
    new Request(`http://127.0.0.1${path}`, {
      method: String(method),
      headers: {
        Authorization: `Bearer ${token}`,
        "Idempotency-Key": String(Bun.hash(JSON.stringify([path, body]))),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  return { status: response.status, body: await response.json() };
}

/** Longer than what an index of PostgreSQL holds of a row, and nothing that can be compressed. */
const LONG_KEY = randomBytes(3000).toString("base64");

const WRITES = [
  ["POST", "/api/projects", { id: "proj_a", name: "Ä", claude_md_content: "# One\r\n" }],
  ["POST", "/api/projects", { id: "proj_b", name: "B", metadata: { x: [1, "ü"] } }],
  ["POST", "/api/projects/proj_b/sync", { metadata: { [LONG_KEY]: 1, [`${LONG_KEY}.`]: 2 } }],
  ["POST", "/api/projects/proj_a/sync", { memories: [{ key: "editor", value: "vim 🎉" }] }],
  ["POST", "/api/projects/proj_a/sync", { memories: [{ key: "editor", value: "emacs" }] }],
  ["POST", "/v1/memories", { layer: "user", key: "mine", content: "tabs" }],
  ["POST", "/v1/memories", { layer: "global", content: "for everybody" }],
] as const;

const READS = [
  ["GET", "/api/projects"],
  ["GET", "/api/projects/proj_a"],
  ["GET", "/api/projects/proj_b"],
  ["GET", "/v1/memories?project_id=proj_a"],
  ["GET", "/v1/memories?project_id=proj_a&q=emacs"],
  ["GET", "/v1/sessions"],
  ["GET", "/api/projects/stats"],
  ["GET", "/api/account"],
] as const;

/** What everybody is answered, but for how many requests were counted. */
async function answersOf(path: string, token: string) {
  const app = await openApp(path);
  try {
    const answers: unknown[] = [];
    for (const read of READS) answers.push(await call(app, token, read));
    return JSON.parse(
      JSON.stringify(answers, (key, value) => (/^(requests|request_id)$/.test(key) ? 0 : value)),
    );
  } finally {
    await app.close();
  }
}

test("what a file has not filed yet of its histories comes along", async () => {
  const [from, to] = ["unfiled.db", "filed.db"].map((name) => join(folder, name));
  const { store, close } = await openHostStore(from ?? "", world);
  const owner = asAccountId("acct");
  for (const value of ["former", "latter"]) {
    await store.write(async (context) => {
      const { document } = await context.open(globalDocument(owner));
      document.setEntry("memories", "k", { value, now: context.now });
    });
  }
  await close();
  await copyDatabase({ from: from ?? "", to: to ?? "", world });
  const copied = await openHostStore(to ?? "", world);
  const rows = await copied.store.reader.selectFrom("revisions").select("value").execute();
  await copied.close();
  expect(rows).toEqual([{ value: "former" }]);
});

test("a database comes out of PostgreSQL as it went in, and answers the same everywhere", async () => {
  const file = join(folder, "from.db");
  const app = await openApp(file);
  const admin = new HostAdmin(app.database, world);
  await admin.createAccount("acme", "pro");
  const { token } = await admin.createToken({
    account: "acme",
    user: "ann",
    name: "laptop",
    scope: "write",
    projects: null,
    expiresAt: null,
  });
  const made: Awaited<ReturnType<typeof call>>[] = [];
  for (const write of WRITES) made.push(await call(app, token, write));
  expect(made).toEqual(WRITES.map(() => expect.objectContaining({ status: 200 })));
  await app.close();

  const address = await (await postgresCluster()).createDatabase();
  const back = join(folder, "back.db");
  const there = await copyDatabase({ from: file, to: address, world });
  const copied = await copyDatabase({ from: address, to: back, world });
  expect(copied).toEqual(there);
  expect(there.documents).toBe(4);

  const answers = await answersOf(file, token);
  expect(answers.map(({ status }: { status: number }) => status)).toEqual(READS.map(() => 200));
  expect(await answersOf(address, token)).toEqual(answers);
  expect(await answersOf(back, token)).toEqual(answers);

  // A request that was answered before is answered so there.
  const shared = await openApp(address);
  expect([await call(shared, token, WRITES.at(-1) ?? [])]).toEqual(made.slice(-1));
  await shared.close();

  await expect(copyDatabase({ from: file, to: address, world })).rejects.toThrow(
    "has documents already: name an empty one",
  );
  await expect(copyDatabase({ from: join(folder, "no.db"), to: back, world })).rejects.toThrow(
    "there is no database",
  );
});

test("a statement of a copy has few megabytes, however large the documents are", async () => {
  const { database, close } = await openHostStore(":memory:", world);
  const sizes = Array.from({ length: 60 }, (_, at) => (at < 40 ? 10 : 2 * MEBIBYTE));
  await database.write(async (db) => {
    for (const [at, size] of sizes.entries()) {
      await sql`insert into documents (id, owner, name, created_at, updated_at)
        values (${at + 1}, 'acme', ${`proj_${at}`}, 1, 1)`.execute(db);
      await sql`insert into snapshots (document_id, seq, payload, checksum, created_at)
        values (${at + 1}, 1, zeroblob(${size}), 0, 1)`.execute(db);
    }
  });
  const ids: unknown[] = [];
  for await (const rows of rowsOf(database.reader, {
    name: "snapshots",
    keys: ["document_id"],
  })) {
    ids.push(...rows.map((row) => row.document_id));
    const bytes = rows.map(({ payload }) => (payload instanceof Uint8Array ? payload.length : 0));
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(10 * MEBIBYTE);
  }
  expect(ids).toEqual(sizes.map((_, at) => at + 1));
  await close();
});
