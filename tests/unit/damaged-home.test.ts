import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as Y from "yjs";
import { memoryHistory } from "../../cli/local/local-history.ts";
import { LOCAL_ACCOUNT } from "../../daemon/gateway/mount.ts";
import { listHeld, putHeld } from "../../daemon/home/held-store.ts";
import { type Home, homeOf, prepareHome } from "../../daemon/home/home.ts";
import {
  findIgnoreText,
  keepFormerIgnored,
  listFormerIgnored,
  putIgnoreText,
} from "../../daemon/home/ignore-files.ts";
import { listLinks, putLink } from "../../daemon/home/links.ts";
import { LOCAL_USER } from "../../daemon/home/local-account.ts";
import { openHomeReader } from "../../daemon/home/open-home.ts";
import { openReplica } from "../../daemon/home/open-replica.ts";
import { listPersonalFiles, putPersonalFile } from "../../daemon/home/personal-files.ts";
import { notedAmong } from "../../daemon/home/personal-lines.ts";
import { PERSONAL_KEY } from "../../daemon/home/personal-mark.ts";
import { keepPersonalVersion, readPersonalVersions } from "../../daemon/home/personal-versions.ts";
import { writePosition } from "../../daemon/home/positions.ts";
import { listTranscripts, putTranscript } from "../../daemon/home/session-records.ts";
import { listGoneIgnores, readIgnored, takeIgnored } from "../../daemon/ignored/ignore-file.ts";
import { readKeptChoices } from "../../daemon/recovery/choices-file.ts";
import { ChoicesKeeper } from "../../daemon/recovery/choices-keeper.ts";
import { keepLinks, readKeptLinks } from "../../daemon/recovery/links-file.ts";
import { countSalvaged } from "../../daemon/recovery/read-salvaged.ts";
import { recoverHome } from "../../daemon/recovery/recover-home.ts";
import { settleSalvaged } from "../../daemon/recovery/salvaged-memories.ts";
import { readDamageNotes } from "../../daemon/recovery/set-aside.ts";
import { silentLog } from "../../shared/log.ts";
import { explain } from "../../shared/reasons.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { listRevisions } from "../../shared/replica/history/revisions.ts";
import { CorruptDocumentError } from "../../shared/replica/log/corrupt-document-error.ts";
import { rowsBetween } from "../../shared/replica/log/log-rows.ts";
import { findDamagedPage } from "../../shared/sqlite/check-file.ts";
import { openConnection } from "../../shared/sqlite/database.ts";
import { realWorld } from "../../shared/world-real.ts";
import { failureOf } from "../support/failure.ts";
import { projectId } from "../support/project-id.ts";
import { NOW } from "../support/replicas.ts";

const PROJECT = projectId("a");
const ADDRESS = { owner: LOCAL_ACCOUNT, name: PROJECT };
const LINK = { dir: "/somewhere", projectId: PROJECT, name: "a", write: false };
/** Of so many memories the service has the first five. */
const MEMORIES = 10;
const SENT = 5;

let home: Home;
beforeEach(() => {
  home = homeOf({ MEMSYNC_HOME: mkdtempSync(join(tmpdir(), "memsync-damaged-")) });
  prepareHome(home);
});
afterEach(() => rmSync(home.dir, { recursive: true, force: true }));

function spoilRow(seq: number): void {
  const database = new Database(home.database);
  database.query("update updates set payload = zeroblob(length(payload)) where seq = ?").run(seq);
  database.close();
}

function spoilPack(key: string): void {
  const database = new Database(home.database);
  const spoiled = "update revision_packs set payload = zeroblob(length(payload)) where key = ?";
  database.query(spoiled).run(key);
  database.close();
}

type Replica = Awaited<ReturnType<typeof openReplica>>;

function setMemory(store: Replica, key: string, value: string): Promise<boolean> {
  return store.write(async (context) => {
    const { document } = await context.open(ADDRESS);
    return document.setEntry("memories", key, { value, now: context.now });
  });
}

/** A replica with a row for each memory. Resolves to what the service had after the first ones. */
async function fill(): Promise<Uint8Array> {
  const store = await openReplica(home.database, realWorld, { machine: "machine" });
  await store.write(({ db }) => putLink(db, LINK, NOW));
  let sent: Uint8Array = new Uint8Array();
  for (let at = 0; at < MEMORIES; at++) {
    await store.write(async (context) => {
      const { document } = await context.open(ADDRESS);
      document.setEntry("memories", `k${at}`, { value: `v${at}`, now: NOW + at });
      if (at === SENT - 1) sent = Y.encodeStateAsUpdate(document.ydoc);
    });
  }
  await store.close();
  return sent;
}

async function memories(store: Replica) {
  const query = store.reader.selectFrom("memories").select(["key", "value"]).orderBy("key");
  return Object.fromEntries((await query.execute()).map(({ key, value }) => [key, value]));
}

test("what no sound row vouches for waits for the service's word, and none of it is lost", async () => {
  const sent = await fill();
  const service = new ReplicaDocument([sent], 77);
  service.deleteEntry("memories", "k1");
  spoilRow(3);
  const damaged = readFileSync(home.database);
  const [note] = await recoverHome(home, realWorld, silentLog);
  expect(note?.message).toContain("1 of them in part");
  expect(readFileSync(note?.set_aside ?? "")).toEqual(damaged);
  const store = await openReplica(home.database, realWorld, { machine: "machine" });
  expect(await countSalvaged(store.reader)).toBe(MEMORIES - 2);
  await settleSalvaged(store, () => "service");
  expect(await countSalvaged(store.reader)).toBe(MEMORIES - 2);
  await store.write(async (context) => {
    const open = await context.open(ADDRESS);
    Y.applyUpdate(open.document.ydoc, Y.encodeStateAsUpdate(service.ydoc), "remote");
    const remote = { epoch: "e", seq: 1 };
    const position = { remote, ackedSeq: 0, refused: undefined };
    await writePosition(context.db, "service", { documentId: open.id, position });
  });
  await settleSalvaged(store, () => "service");
  expect(await countSalvaged(store.reader)).toBe(0);
  const expected = Array.from({ length: MEMORIES }, (_, at) => [`k${at}`, `v${at}`]);
  const kept = expected.filter(([key]) => key !== "k1");
  expect(await memories(store)).toEqual(Object.fromEntries(kept));
  expect(await listLinks(store.reader)).toEqual([LINK]);
  await store.close();
});

test("a sound home is left as it is", async () => {
  await fill();
  const before = readFileSync(home.database);
  expect(await recoverHome(home, realWorld, silentLog)).toEqual([]);
  expect(readFileSync(home.database)).toEqual(before);
});

test("a damaged pack of a history costs that pack alone", async () => {
  const written = await openReplica(home.database, realWorld, { machine: "machine" });
  for (let at = 0; at < 60; at++) await setMemory(written, at % 2 === 0 ? "a" : "b", `v${at}`);
  await written.sweep();
  await setMemory(written, "a", "last");
  const historyOf = (store: typeof written, key: string) =>
    listRevisions(store.reader as never, 1, { kind: "memory", key });
  const [a, b] = [await historyOf(written, "a"), await historyOf(written, "b")];
  expect([a.length, b.length]).toEqual([30, 29]);
  await written.close();
  spoilPack("b");
  const reader = await openHomeReader(home.database);
  const source = { db: reader as never, document: PROJECT, machine: "machine" };
  expect(await memoryHistory(source, "a")).toHaveLength(1 + a.length);
  expect(String(await failureOf(() => memoryHistory(source, "b")))).toContain(
    "document 1 is damaged in its history: stop the daemon if it runs, and `memsync up` sets",
  );
  await reader?.destroy();
  const [note] = await recoverHome(home, realWorld, silentLog);
  expect(note?.reason).toBe("document 1 is damaged at pack of its history 2");
  expect(note?.message).toContain("1 document, 0 writes made without a daemon, 30 former versions");
  expect(note?.message).not.toContain("held can be read");
  const store = await openReplica(home.database, realWorld, { machine: "machine" });
  expect(await historyOf(store, "a")).toEqual(a);
  expect(await historyOf(store, "b")).toEqual([]);
  expect(await memories(store)).toEqual({ a: "last", b: "v59" });
  await store.close();
});

/** Overwrites the page of the database's file that has these letters. */
function spoilPageWith(text: string): void {
  const bytes = readFileSync(home.database);
  const size = bytes.readUInt16BE(16) || 65_536;
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(size);
  bytes.fill(0, at - (at % size), at - (at % size) + size);
  writeFileSync(home.database, bytes);
}

test("a damaged home says that some of what was held is gone, and has the rest", async () => {
  const store = await openReplica(home.database, realWorld);
  const keys = Array.from({ length: 200 }, (_, at) => `held-${at}`);
  await store.write(async ({ db }) => {
    for (const key of keys) {
      const value = `value of ${key}, ${"x".repeat(300)}`;
      const place = { kind: "memory", account: LOCAL_ACCOUNT, document: PROJECT, key } as const;
      const reason = { code: "no-room" } as const;
      await putHeld(db, { ...place, value, seen: [], cause: "limit", reason, writtenAt: NOW });
    }
  });
  await store.close();
  const database = new Database(home.database);
  database.run("pragma wal_checkpoint(truncate)");
  database.close();
  spoilPageWith("value of held-100,");
  const [note] = await recoverHome(home, realWorld, silentLog);
  expect(note?.message).toContain("not all that was held can be read");
  const mended = await openReplica(home.database, realWorld);
  const left = (await listHeld(mended.reader)).map(({ key }) => key);
  await mended.close();
  expect(left).not.toContain("held-100");
  expect(left).toEqual(expect.arrayContaining(["held-0", "held-50", "held-150", "held-199"]));
});

test("what a damaged home knew of ignored names still counts", async () => {
  const written = await openReplica(home.database, realWorld, { machine: "machine" });
  for (let at = 0; at < 60; at++) await setMemory(written, at % 2 === 0 ? "a" : "b", `v${at}`);
  const former = { dir: "/src/former", projectId: PROJECT };
  await written.write(async ({ db }) => {
    await putIgnoreText(db, "/src/shop", "own.md\n");
    await putIgnoreText(db, former.dir, "mine.md\n");
    await keepFormerIgnored(db, former);
  });
  await written.sweep();
  await written.close();
  spoilPack("b");
  expect(await recoverHome(home, realWorld, silentLog)).toHaveLength(1);
  const store = await openReplica(home.database, realWorld, { machine: "machine" });
  expect(await findIgnoreText(store.reader, "/src/shop")).toBe("own.md\n");
  expect(await listFormerIgnored(store.reader, PROJECT)).toEqual([
    { dir: former.dir, text: "mine.md\n" },
  ]);
  await store.close();
});

test("what only a compressed snapshot still holds is read from it", async () => {
  const written = await openReplica(home.database, realWorld, { machine: "machine" });
  const SEQ = 256;
  for (let at = 0; at <= SEQ; at++) await setMemory(written, `k${at}`, `v${at}`);
  await written.write(({ db }) => {
    return db.deleteFrom("updates").where("seq", "<=", SEQ).execute();
  });
  await written.close();
  spoilRow(SEQ + 1);
  const [note] = await recoverHome(home, realWorld, silentLog);
  expect(note?.message).toContain("1 of them in part");
  const store = await openReplica(home.database, realWorld, { machine: "machine" });
  expect(Object.keys(await memories(store))).toHaveLength(SEQ);
  expect(await countSalvaged(store.reader)).toBe(1);
  await store.close();
});

test("a home that lost its database keeps its links, by a copy that is checked", async () => {
  await fill();
  keepLinks(home, { links: [LINK], bindings: undefined }, silentLog);
  rmSync(home.database);
  const [note] = await recoverHome(home, realWorld, silentLog);
  expect(note?.reason).toBe("it is missing");
  const store = await openReplica(home.database, realWorld);
  expect(await listLinks(store.reader)).toEqual([LINK]);
  await store.close();
  writeFileSync(home.links, readFileSync(home.links, "utf8").replace("/somewhere", "/nowhere"));
  expect(readKeptLinks(home)).toEqual({ links: [], bindings: undefined });
});

const ALSO = { ...LINK, also: ["GEMINI.md"] };
const FORMER = { dir: "/src/former", projectId: PROJECT };
const PERSONAL = { assistant: "claude", path: "/somewhere/CLAUDE.md", header: "", undone: [] };
/** Transcripts of a session that ran while none was recorded, and of another one. */
const WITHHELD = {
  path: "/somewhere/1.jsonl",
  state: '{"size":1,"isWithheld":true}',
  cwd: LINK.dir,
  project: PROJECT,
};
const RECORDED = { ...WITHHELD, path: "/somewhere/2.jsonl", state: '{"size":1}' };

/** A home in which people have decided what only they know. */
async function decide(): Promise<void> {
  const store = await openReplica(home.database, realWorld, { machine: "machine" });
  await store.write(async ({ db }) => {
    await putLink(db, ALSO, NOW);
    await putIgnoreText(db, LINK.dir, "own.md\n");
    await putIgnoreText(db, FORMER.dir, "mine.md\n");
    await keepFormerIgnored(db, FORMER);
    await putPersonalFile(db, { ...PERSONAL, writes: true, isMade: true, shown: "rules" }, NOW);
    await keepPersonalVersion(db, { id: "aaaaaaaaaa", value: "rules", isOwn: true });
    for (const each of [WITHHELD, RECORDED]) await putTranscript(db, each);
  });
  await store.close();
  keepLinks(home, { links: [ALSO], bindings: undefined }, silentLog);
}

test("a home that lost its database keeps what people have decided about its files", async () => {
  await decide();
  const keeper = new ChoicesKeeper({ home, world: realWorld, log: silentLog });
  keeper.committed();
  await keeper.stop();
  rmSync(home.database);
  const [note] = await recoverHome(home, realWorld, silentLog);
  expect(note?.message).toContain("what the service holds comes back from there; not all that was");
  const store = await openReplica(home.database, realWorld);
  expect(await listLinks(store.reader)).toEqual([ALSO]);
  expect(await listGoneIgnores(store.reader, [LINK], PROJECT)).toEqual([
    { dir: LINK.dir, names: ["own.md"] },
    { dir: FORMER.dir, names: ["mine.md"] },
  ]);
  expect(await listPersonalFiles(store.reader)).toMatchObject([
    { ...PERSONAL, writes: true, isMade: true, shown: "rules" },
  ]);
  expect(await readPersonalVersions(store.reader)).toMatchObject([{ value: "rules", isOwn: true }]);
  expect(await listTranscripts(store.reader)).toEqual([WITHHELD]);
  expect(existsSync(home.offPeriod)).toBe(false);
  await store.close();
});

test("the copy of what people have decided is read by the database that is open", async () => {
  await decide();
  const store = await openReplica(home.database, realWorld);
  const moved = { ...home, database: `${home.database}-which-is-not-there` };
  const reader = () => store.reader;
  await new ChoicesKeeper({ home: moved, world: realWorld, log: silentLog, reader }).keep();
  const kept = readKeptChoices(home)?.ignore_files.map(({ dir }) => dir);
  expect(kept).toContain(LINK.dir);
  await store.close();
});

test("what ran while no sessions were recorded is read from a damaged database, too", async () => {
  await decide();
  const database = new Database(home.database);
  database.run("drop table memory_files");
  database.run("pragma wal_checkpoint(truncate)");
  database.close();
  await recoverHome(home, realWorld, silentLog);
  const store = await openReplica(home.database, realWorld);
  expect(await listTranscripts(store.reader)).toEqual([WITHHELD]);
  expect(existsSync(home.offPeriod)).toBe(false);
  await store.close();
});

test("a damaged home of before its words changed keeps what was held and allowed", async () => {
  await decide();
  const database = new Database(home.database);
  database.run("drop table memory_files");
  database.run("drop table personal_lines");
  database.run("alter table allowances rename to allowed_secrets");
  database.run("insert into allowed_secrets (hash, allowed_at) values ('h', 1)");
  database.run("update personal_files set settled = 'take abc'");
  database.run("update personal_versions set value = 'a rule of mine'");
  database.run(`insert into held
    (kind, account, document, key, seen, cause, reason, value, written_at)
    values ('memory', 'local', '${PROJECT}', 'k', '[]', 'secret', '{}', 'v', 0),
      ('memory', 'local', '${PROJECT}', 'l', '[]', 'secret',
        '{"code":"personal-lines","lines":[1]}', 'a line of mine', 0),
      ('memory', 'local', '${PROJECT}', 'm', '[]', 'secret',
        '{"code":"personal-lines","lines":7}', 'x of a team', 0),
      ('memory', 'local', 'user/${LOCAL_USER}', '${PERSONAL_KEY}', '[]', 'secret', '{}',
        'a text of mine', 0)`);
  database.run("pragma wal_checkpoint(truncate)");
  database.close();
  await recoverHome(home, realWorld, silentLog);
  const store = await openReplica(home.database, realWorld);
  const { reader } = store;
  expect(await reader.selectFrom("allowances").select("hash").execute()).toEqual([{ hash: "h" }]);
  const held = await reader.selectFrom("held").select("cause").execute();
  expect(held).toEqual(Array(4).fill({ cause: "private" }));
  expect(await listPersonalFiles(reader)).toMatchObject([{ settled: "take", takes: "abc" }]);
  const mine = ["a rule of mine", "a line of mine", "a text of mine"];
  const noted = await notedAmong(reader, [...mine, "x of a team"]);
  expect([...noted].sort()).toEqual(mine.toSorted());
  await store.close();
});

for (const copy of ["missing", "damaged"] as const) {
  test(`nothing is sent where what was ignored is lost, and that is told: its copy is ${copy}`, async () => {
    await decide();
    if (copy === "damaged") writeFileSync(home.choices, '1\n{"ignore_files":[]}');
    rmSync(home.database);
    const [note] = await recoverHome(home, realWorld, silentLog);
    expect(note?.message).toContain(
      "what a `.memsyncignore` named that is gone can't be read, so no file of 1 linked folder " +
        "is sent until `memsync link --send-ignored` there; no memory of your own folders, as " +
        "Serena's global ones, is sent until a `.memsyncignore` is in them, even an empty one; " +
        "which files had the personal text " +
        "can't be read: `memsync personal on` turns it on again; which sessions ran while they " +
        "were off can't be read, so none that ran before is recorded",
    );
    const period = JSON.parse(readFileSync(home.offPeriod, "utf8"));
    expect(period.from).toBe(0);
    expect(Math.abs(Date.now() - period.until)).toBeLessThan(60_000);
    const store = await openReplica(home.database, realWorld);
    const ignored = await readIgnored(store.reader, LINK.dir);
    const file = join(LINK.dir, ".memsyncignore");
    const lost = { code: "ignored-lost", file, isLinked: true } as const;
    expect(ignored.why("CLAUDE.md")).toEqual(lost);
    expect(ignored.why("auto-memory/one.md")).toEqual(lost);
    const global = join(home.dir, "global");
    const own = await readIgnored(store.reader, global, "memories");
    const ownLost = { ...lost, file: join(global, ".memsyncignore"), isLinked: false } as const;
    expect(own.why("one.md")).toEqual(ownLost);
    expect(explain(ownLost)).toEndWith(`: an empty ${ownLost.file} sends it`);
    // `personal on` names the file.
    const personal = await readIgnored(store.reader, global, "personal");
    expect(personal.why("CLAUDE.md")).toBeUndefined();
    mkdirSync(global);
    writeFileSync(ownLost.file, "");
    expect((await takeIgnored(store, global, "memories")).why("one.md")).toBeUndefined();
    rmSync(ownLost.file);
    expect((await readIgnored(store.reader, global, "memories")).why("one.md")).toBeUndefined();
    expect(await listGoneIgnores(store.reader, [LINK], PROJECT)).toEqual([
      { dir: LINK.dir, names: ["*"] },
    ]);
    await store.close();
  });
}

test("a file that is busy is no damaged one", async () => {
  const path = join(home.dir, "busy.db");
  using other = new Database(path);
  other.exec("create table t (x); begin exclusive; insert into t values (1)");
  const connection = await openConnection(path, true);
  expect(() => findDamagedPage(connection, "whole")).toThrow("locked");
  connection.close();
});

test("a new home is no damaged one", async () => {
  expect(await recoverHome(home, realWorld, silentLog)).toEqual([]);
  expect(existsSync(home.database)).toBe(true);
});

test("a row that the disk changed is told to nobody, and reported", async () => {
  await fill();
  spoilRow(MEMORIES);
  const reported: unknown[] = [];
  const store = await openReplica(home.database, realWorld, {
    machine: "machine",
    onDamage: (thrown) => {
      reported.push(thrown);
    },
  });
  const load = store.write((context) => context.open(ADDRESS));
  expect(load).rejects.toThrow("is damaged at row 10");
  await load.catch(() => undefined);
  expect(reported).toHaveLength(1);
  const { id } = await store.reader.selectFrom("documents").select("id").executeTakeFirstOrThrow();
  const rows = rowsBetween(store.reader as never, id, { afterSeq: 0, throughSeq: MEMORIES });
  expect(await rows.catch((thrown: unknown) => thrown)).toBeInstanceOf(CorruptDocumentError);
  await store.close();
});

test("a damaged database whose note is damaged, too, is told of all the same", () => {
  const aside = `${home.database}.damaged-1`;
  for (const text of ["", "null", '{"message":"the database was damaged"}']) {
    writeFileSync(`${aside}.json`, text);
    const [note] = readDamageNotes(home.dir);
    expect([note?.set_aside, note?.found_at, note?.code]).toEqual([aside, null, "damage-untold"]);
    expect(note?.message).toContain(`${aside} is a database that was damaged`);
    expect(note?.message).toContain(`${aside}.json can't be read`);
  }
});

test("that writes made without a daemon can't be read is not told as if there were none", async () => {
  const written = await openReplica(home.database, realWorld, { machine: "machine" });
  await setMemory(written, "a", "first");
  await written.close();
  const database = new Database(home.database);
  database.run(
    `insert into inbox (document, key, value, seen, written_at) values (?, 'k', 'v', '[]', ?)`,
    [PROJECT, NOW],
  );
  database.run("pragma wal_checkpoint(truncate)");
  const place = "select rootpage as page from sqlite_schema where name = 'inbox'";
  const { page } = database.query<{ page: number }, []>(place).get() ?? { page: 0 };
  const size = Number(Object.values(database.query("pragma page_size").get() ?? {})[0]);
  database.close();
  const bytes = readFileSync(home.database);
  bytes.fill(0xa5, (page - 1) * size, page * size);
  writeFileSync(home.database, bytes);
  const [note] = await recoverHome(home, realWorld, silentLog);
  expect(note?.message).toContain(
    "0 writes made without a daemon (there may have been more that can't be read",
  );
  expect(existsSync(note?.set_aside ?? "")).toBe(true);
});
