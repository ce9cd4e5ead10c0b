import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Kysely, sql } from "kysely";
import { personalLinesReason } from "../../daemon/held/personal-lines.ts";
import { LOCAL_ACCOUNT } from "../../daemon/home/local-account.ts";
import { daemonMigrations } from "../../daemon/home/migrations.ts";
import { openHomeDatabase, openHomeReader } from "../../daemon/home/open-home.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { listPersonalFiles } from "../../daemon/home/personal-files.ts";
import { notedAmong } from "../../daemon/home/personal-lines.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { TEXT_CONFLICT_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { listRevisions } from "../../shared/replica/history/revisions.ts";
import { moveKeptConflicts } from "../../shared/replica/merge/text-conflicts.ts";
import { connect } from "../../shared/sqlite/connect-bun.ts";
import { openDatabase } from "../../shared/sqlite/database.ts";
import { migrate } from "../../shared/sqlite/migrate.ts";
import { MEMSYNC } from "../support/machine.ts";
import { projectId } from "../support/project-id.ts";
import { RunningProcess } from "../support/running-process.ts";
import { createTestWorld } from "../support/test-world.ts";

setDefaultTimeout(60_000);

/** The steps of 0.1.0; what came later is what has to be migrated. */
const RELEASED = [
  "replica-0001-documents",
  "replica-0002-rows",
  "replica-0003-full-text",
  "service-0001-sessions-and-connections",
  "daemon-0001-links-and-positions",
];
const ADDRESS = projectDocument(LOCAL_ACCOUNT, projectId("a"));

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A home's database as 0.1.0 left it, with a history, a conflict and something in the inbox. */
async function releasedDatabase(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "memsync-released-"));
  folders.push(folder);
  const path = join(folder, "memsync.db");
  // 0.1.0 made its files so that free pages stay in them.
  const made = connect(path, { readonly: false });
  made.exec("PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = WAL; CREATE TABLE made (x)");
  made.exec("DROP TABLE made");
  made.close();
  const database = await openDatabase<unknown>({ path });
  const steps = daemonMigrations.filter(({ name }) => RELEASED.includes(name));
  expect(steps.map(({ name }) => name)).toEqual(RELEASED);
  await migrate(database.writer, steps);
  await fill(database.writer);
  await database.close();
  return path;
}

async function fill(db: Kysely<unknown>): Promise<void> {
  await sql`insert into documents (id, owner, name, created_at, updated_at)
    values (1, 'local', ${ADDRESS.name}, 0, 0)`.execute(db);
  await sql`insert into revisions (document_id, kind, key, value, written_at, replaced_at)
    values (1, 'memory', 'k', 'old', 1, 2)`.execute(db);
  await sql`insert into texts (document_id, content, updated_at) values (1, 'text', 3)`.execute(db);
  await sql`insert into text_conflicts (document_id, mine, theirs, found_at)
    values (1, 'mine', 'theirs', 4)`.execute(db);
  await sql`insert into inbox (document, key, value, seen, written_at)
    values (${ADDRESS.name}, 'k', 'new', '[]', 5)`.execute(db);
}

test("a home of 0.1.0 is brought to the present schema, and nothing of it is lost", async () => {
  const path = await releasedDatabase();
  const database = await openHomeDatabase(path);
  const revisions = await listRevisions(database.reader as never, 1, { kind: "memory", key: "k" });
  expect(revisions).toEqual([
    { kind: "memory", key: "k", value: "old", writtenAt: 1, replacedAt: 2, machine: undefined },
  ]);
  const { kind, value } = await database.reader
    .selectFrom("inbox")
    .selectAll()
    .executeTakeFirstOrThrow();
  expect([kind, value]).toEqual(["memory", "new"]);
  await database.close();
});

test("whoever only reads a home of 0.1.0 brings it to the present schema, too", async () => {
  const path = await releasedDatabase();
  const reader = await openHomeReader(path);
  expect(await reader?.selectFrom("texts").selectAll().execute()).toEqual([
    { document_id: 1, content: "text", updated_at: 3, machine: null },
  ]);
  await reader?.destroy();
});

test("a home of 0.1.0 that several processes open at once is migrated once", async () => {
  const path = await releasedDatabase();
  const env = { MEMSYNC_HOME: dirname(path) };
  const command = [...MEMSYNC, "history", "k", "--project", ADDRESS.name, "--json"];
  const processes = Array.from({ length: 4 }, () => {
    return new RunningProcess(command, { cwd: dirname(path), env });
  });
  for (const ended of await Promise.all(processes.map((each) => each.ended()))) {
    expect(ended.stderr).toBe("");
    const versions = JSON.parse(ended.stdout) as { value: string; state: string }[];
    expect(versions.map(({ value, state }) => [value, state])).toEqual([
      ["new", "current"],
      ["old", "replaced"],
    ]);
  }
});

test("the conflicts that 0.1.0 kept on one machine go into their documents", async () => {
  const path = await releasedDatabase();
  const store = await openReplica(path, createTestWorld(), { machine: "laptop" });
  for (let start = 0; start < 2; start++) await store.write(moveKeptConflicts);
  const values = await store.write(async (context) => {
    const { metadata } = (await context.open(ADDRESS)).document;
    const keys = [...metadata.keys()].filter((key) => key.startsWith(TEXT_CONFLICT_PREFIX));
    return keys.map((key) => metadata.get(key)[0]?.value);
  });
  expect(values).toEqual([
    {
      found_at: 4,
      versions: [
        { text: "mine", cut: false, machine: null },
        { text: "theirs", cut: false, machine: null },
      ],
    },
  ]);
  expect(await store.reader.selectFrom("text_conflicts").selectAll().execute()).toEqual([]);
  await store.close();
});

test("a long history that 0.1.0 kept reads the same when a sweep has packed it", async () => {
  const path = await releasedDatabase();
  const store = await openReplica(path, createTestWorld());
  const now = createTestWorld().now();
  await store.write(({ db }) =>
    sql`insert into revisions (document_id, kind, key, value, written_at, replaced_at)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
      select 1, 'memory', 'long', 'value ' || i, ${now} + i, ${now} + i + 1 from n`.execute(db),
  );
  const history = () => listRevisions(store.reader as never, 1, { kind: "memory", key: "long" });
  const before = await history();
  expect(before).toHaveLength(100);
  await store.sweep();
  const rows = store.reader.selectFrom("revisions").select("id").where("key", "=", "long");
  expect(await rows.execute()).toEqual([]);
  expect(await history()).toEqual(before);
  await store.close();
});

test("a file of 0.1.0 that is mostly free is made small by a sweep, and then by each", async () => {
  const path = await releasedDatabase();
  const store = await openReplica(path, createTestWorld());
  const fillUp = async () => {
    await store.write(({ db }) =>
      sql`insert into revisions (document_id, kind, key, value, written_at, replaced_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
        select 1, 'memory', 'gone', hex(zeroblob(10000)), 0, 0 from n`.execute(db),
    );
  };
  // 300 values of 20,000 characters; the tables without them are under a tenth of that.
  const filledBytes = 300 * 20_000;
  for (let round = 0; round < 2; round++) {
    await fillUp();
    await store.sweep();
    expect(statSync(path).size).toBeLessThan(filledBytes / 10);
  }
  const [left] = await listRevisions(store.reader as never, 1, { kind: "memory", key: "k" });
  expect(left).toBeUndefined();
  await store.close();
});

test("what a home held as secrets is private, and the lines of its personal text are known", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-private-"));
  folders.push(folder);
  const path = join(folder, "memsync.db");
  const before = await openDatabase<unknown>({ path });
  const later = ["daemon-private-lines", "daemon-reasons-as-codes", "daemon-letters-of-lines"];
  await migrate(
    before.writer,
    daemonMigrations.filter(({ name }) => !later.includes(name)),
  );
  const db = before.writer;
  const end = "<!-- memsync:personal end -->";
  const marked = `<!-- memsync:personal begin -->\nrule of a block\n${end}\n`;
  const block = `# Of all\n${marked}rule of all\n${end}\n`;
  await sql`insert into personal_versions (id, value, is_own)
    values ('aaaaaaaaaa', ${"<!-- memsync:personal version -->\nrule of a version\n"}, 1)`.execute(
    db,
  );
  for (const [key, cause] of [
    ["a", "secret"],
    ["b", "limit"],
  ]) {
    await sql`insert into held
      (kind, account, document, key, seen, cause, reason, value, written_at)
      values ('memory', 'local', 'proj_a', ${key}, '[]', ${cause}, '{}', ${block}, 0)`.execute(db);
  }
  // Lines of versions that are kept no more.
  for (const [key, reason] of [
    ["c", { code: "personal-lines", lines: [3] }],
    ["d", { code: "looks-like-secret", like: "a password", line: 1, more: 0, personal: [1, 3] }],
  ] as const) {
    const value = `rule held as one's own, ${key}\n\nrule ${key} of a team\n`;
    await sql`insert into held
      (kind, account, document, key, seen, cause, reason, value, written_at)
      values ('memory', 'local', 'proj_a', ${key}, '[]', 'secret', ${JSON.stringify(reason)},
        ${value}, 0)`.execute(db);
  }
  await sql`insert into allowed_secrets (hash, allowed_at) values ('h', 1)`.execute(db);
  for (const [assistant, settled] of [
    ["claude", "take abc"],
    ["codex", "off"],
  ]) {
    await sql`insert into personal_files (assistant, path, header, writes, is_made, settled, undone,
      turned_on_at) values (${assistant}, '/x', '', 0, 0, ${settled}, '[]', 0)`.execute(db);
  }
  await before.close();
  const home = await openHomeDatabase(path);
  try {
    const lines = ["rule of a version", "rule of a block", "another rule", "rule of all"];
    expect([...(await notedAmong(home.reader, lines))].sort()).toEqual(lines.slice(0, 2).reverse());
    const numbered = ["c", "d"].flatMap((key) => [
      `rule held as one's own, ${key}`,
      `rule ${key} of a team`,
    ]);
    const noted = await notedAmong(home.reader, numbered);
    expect(numbered.filter((line) => !noted.has(line))).toEqual(numbered.slice(0, 1));
    const { rows: held } = await sql<{ cause: string }>`select cause from held`.execute(
      home.reader,
    );
    expect(held.map(({ cause }) => cause).sort()).toEqual(["limit", ...Array(3).fill("private")]);
    expect(await home.reader.selectFrom("allowances").select("hash").execute()).toHaveLength(1);
    const files = await listPersonalFiles(home.reader);
    expect(files.map(({ settled, takes }) => [settled, takes])).toEqual([
      ["take", "abc"],
      ["off", undefined],
    ]);
  } finally {
    await home.close();
  }
});

test("lines are known by their letters after a migration, and what is allowed stays so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memsync-letters-"));
  folders.push(folder);
  const path = join(folder, "memsync.db");
  const before = await openDatabase<unknown>({ path });
  await migrate(
    before.writer,
    daemonMigrations.filter(({ name }) => name !== "daemon-letters-of-lines"),
  );
  const db = before.writer;
  const sha = (text: string) => createHash("sha256").update(text).digest("hex");
  const version = "<!-- memsync:personal version -->\n- Rule of a version\n";
  await sql`insert into personal_versions (id, value, is_own)
    values ('aaaaaaaaaa', ${version}, 1)`.execute(db);
  // Of a version that is kept no more.
  for (const line of ["Rule of a version", "rule of before"]) {
    await sql`insert into personal_lines (hash) values (${sha(line)})`.execute(db);
  }
  await sql`insert into documents (owner, name, created_at, updated_at)
    values ('local', 'proj_a', 0, 0)`.execute(db);
  await sql`insert into allowances (hash, allowed_at)
    values (${sha("personal line\nproj_a\nRule of a version")}, 7)`.execute(db);
  await before.close();
  const home = await openHomeDatabase(path);
  try {
    const asked = ["**rule of a version.**", "> rule of before", "Rule of before."];
    expect([...(await notedAmong(home.reader, asked))].sort()).toEqual(asked.slice(0, 2));
    const reasonFor = (document: string) =>
      personalLinesReason(home.reader, { document, text: "* RULE of a version", already: [] });
    expect(await reasonFor("proj_a")).toBeUndefined();
    expect(await reasonFor("proj_b")).toEqual({ code: "personal-lines", lines: [1] });
  } finally {
    await home.close();
  }
});
