import { expect, test } from "bun:test";
import pg from "pg";
import * as Y from "yjs";
import { beginNewEpoch } from "../../server/backup/new-epoch.ts";
import { openPostgresStore } from "../../server/stores/open-postgres-store.ts";
import type { HostStore } from "../../server/stores/open-store.ts";
import { asAccountId, type ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { HISTORY, listRevisions } from "../../shared/replica/history/revisions.ts";
import { serveExchange } from "../../shared/replica/store/exchange.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { World } from "../../shared/world.ts";
import { realWorld } from "../../shared/world-real.ts";
import { served } from "../support/exchange-client.ts";
import { serversOfTests } from "../support/postgres-servers.ts";
import { waitFor } from "../support/wait-for.ts";

const newDatabase = serversOfTests();

const ann = asAccountId("ann");
const bob = asAccountId("bob");
const notes = (owner = ann) => projectDocument(owner, "proj_notes" as ProjectId);

/** Writes a memory; resolves to the position after it. */
function set({ store }: HostStore, key: string, { owner = ann, value = key } = {}) {
  return store.write(
    async (context) => {
      const open = await context.open(notes(owner));
      open.document.setEntry("memories", key, { value, now: context.now });
      await context.flush(open);
      return open.head;
    },
    { owner },
  );
}

async function keysOf({ store }: HostStore, owner = ann): Promise<string[]> {
  const rows = await store.reader
    .selectFrom("memories")
    .innerJoin("documents", "documents.id", "memories.document_id")
    .select("key")
    .where("owner", "=", owner)
    .orderBy("key")
    .execute();
  return rows.map(({ key }) => key);
}

/** What the document in memory has, which the next write builds upon. */
function keysInMemory({ store }: HostStore, owner = ann): Promise<string[]> {
  return store.write(
    async (context) => {
      const open = await context.open(notes(owner));
      return [...open.document.memories.keys()].sort();
    },
    { owner },
  );
}

async function ask<Row extends pg.QueryResultRow>(address: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

test("what one server writes the other has, in memory and in its rows", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  await set(one, "a");
  await set(other, "b");
  await set(one, "c");
  expect(await keysOf(other)).toEqual(["a", "b", "c"]);
  expect(await keysInMemory(other)).toEqual(["a", "b", "c"]);
  expect(await keysInMemory(one)).toEqual(["a", "b", "c"]);
});

test("a document whose further rows are not there any more is read again", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  await set(one, "a");
  await set(other, "b");
  await other.store.write((context) => context.compact(notes()), { owner: ann });
  await ask(database.address, "DELETE FROM updates");
  expect(await keysInMemory(one)).toEqual(["a", "b"]);
  await set(one, "c");
  expect(await keysInMemory(other)).toEqual(["a", "b", "c"]);
});

test("two servers that write one account at the same time lose nothing", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  const heads = await Promise.all(
    Array.from({ length: 20 }, (_, at) => set(at % 2 ? one : other, `key-${at}`)),
  );
  const seqs = heads.map(({ seq }) => seq).sort((before, after) => before - after);
  expect(seqs).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(new Set(heads.map(({ epoch }) => epoch)).size).toBe(1);
  expect(await keysInMemory(one)).toEqual(await keysOf(other));
  expect(await keysOf(one)).toHaveLength(20);
});

test("a whole document comes without what its client brings, also from another server", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  const position = await set(one, "a");
  for (let at = 0; at < 10; at++) await set(one, `key-${at}`, { value: "x".repeat(30_000) });
  await one.store.write((context) => context.compact(notes()), { owner: ann });
  const client = new ReplicaDocument([], 7);
  client.setEntry("memories", "mine", { value: "1", now: 0 });
  const request = { position, update: Y.encodeStateAsUpdate(client.ydoc) };
  const answer = await other.store.write(
    (context) => serveExchange(context, notes(), { request, rights: { canWrite: true } }),
    { owner: ann },
  );
  const { update = new Uint8Array() } = served(answer);
  const came = new ReplicaDocument([update], 8);
  expect([...came.memories.keys()].sort()).toEqual((await keysOf(one)).slice(0, -1));
  expect(await keysOf(one)).toContain("mine");
});

test("each server hears of every row of an account once, in order", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  await set(one, "before");
  const heard = [one, other].map(({ store }) => {
    const rows: CommittedRow[] = [];
    store.onCommit((some) => rows.push(...some));
    store.follow(ann);
    return rows;
  });
  await Promise.all([one, other].map(({ store }) => store.following(ann)));
  for (let at = 0; at < 6; at++) await set(at % 2 ? one : other, `key-${at}`);
  await set(one, "of somebody else", { owner: bob });
  await waitFor("six rows at both", () => heard.every((rows) => rows.length >= 6));
  for (const rows of heard) {
    expect(rows.map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(new Set(rows.map(({ address }) => address.owner))).toEqual(new Set([ann]));
  }
});

test("a server whose connections were all cut hears of what was written meanwhile", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  await set(one, "a");
  const heard: CommittedRow[] = [];
  other.store.onCommit((rows) => heard.push(...rows));
  other.store.follow(ann);
  await other.store.following(ann);
  await ask(
    database.address,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await waitFor("a write that is kept", () =>
    set(one, "b").then(
      () => true,
      () => false,
    ),
  );
  await set(one, "c");
  await waitFor("both rows", () => heard.length >= 2);
  expect(heard.map(({ seq }) => seq)).toEqual([2, 3]);
});

test("a write that fails leaves nothing, and takes no other of its transaction along", async () => {
  const database = await newDatabase();
  const host = await database.open();
  const failing = host.store.write(
    async (context) => {
      const open = await context.open(notes(bob));
      open.document.setEntry("memories", "half", { value: "written", now: context.now });
      await context.flush(open);
      throw new Error("refused after all");
    },
    { owner: bob },
  );
  const [refused, ...kept] = await Promise.allSettled([failing, set(host, "a"), set(host, "b")]);
  expect(refused).toMatchObject({ status: "rejected", reason: { message: "refused after all" } });
  expect(kept.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  expect(await keysOf(host, bob)).toEqual([]);
  expect(await keysInMemory(host, bob)).toEqual([]);
  expect(await keysOf(host)).toEqual(["a", "b"]);
});

test("a write that did not say whose document it opens is refused", async () => {
  const database = await newDatabase();
  const { store } = await database.open();
  await expect(store.write((context) => context.open(notes()))).rejects.toThrow("whose documents");
});

test("a transaction that others came in the way of is done again", async () => {
  const database = await newDatabase();
  const host = await database.open();
  let tries = 0;
  await host.store.write(
    async (context) => {
      const open = await context.open(notes());
      open.document.setEntry("memories", "once", { value: "x", now: context.now });
      await context.flush(open);
      tries += 1;
      if (tries === 1) throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
    },
    { owner: ann },
  );
  expect(tries).toBe(2);
  expect(await keysInMemory(host)).toEqual(["once"]);
});

test("what a process knows of accounts is bounded, and those it has forgotten are read again", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  await set(one, "a");
  expect(one.store.inMemory.documents).toBe(1);
  for (let at = 0; at < 10_000; at += 2000) {
    const owners = Array.from({ length: 2000 }, (_, each) => asAccountId(`other-${at + each}`));
    await Promise.all(owners.map((owner) => one.store.write(async () => {}, { owner })));
  }
  expect(one.store.inMemory.documents).toBe(0);
  await set(other, "b");
  await set(one, "c");
  expect(await keysInMemory(one)).toEqual(["a", "b", "c"]);
});

test("a long edit is of the database's time, as every write", async () => {
  const database = await newDatabase();
  const behind: World = { ...realWorld, now: () => realWorld.now() - 86_400_000 };
  const host = await database.open(behind);
  await set(host, "a");
  const edit = { address: notes(), create: false, edit: async () => {} };
  const draft = await host.store.draft(edit);
  const written = await host.store.write(async ({ now }) => now);
  expect(Math.abs(written - (draft?.now ?? 0))).toBeLessThan(60_000);
});

test("a database that is another than before goes on under an epoch nobody knows", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  const before = await set(one, "a");
  await ask(database.address, "UPDATE incarnation SET mark = 'before a promotion'");
  const after = await set(one, "b");
  const elsewhere = await set(other, "c");
  expect(after.epoch).not.toBe(before.epoch);
  expect(elsewhere.epoch).toBe(after.epoch);
  expect(await keysInMemory(one)).toEqual(["a", "b", "c"]);
});

test("a database that is put back from a copy has another epoch, though nothing was started", async () => {
  const database = await newDatabase();
  const name = new URL(database.address).pathname.slice(1);
  const admin = Object.assign(new URL(database.address), { pathname: "/postgres" }).href;
  const open = () => openPostgresStore(database.address, realWorld);
  const server = await open();
  const before = await set(server, "a");
  await server.close();
  await ask(admin, `CREATE DATABASE ${name}_kept TEMPLATE ${name}`);
  const later = await open();
  expect((await set(later, "b")).epoch).toBe(before.epoch);
  await later.close();
  await ask(admin, `DROP DATABASE ${name}`);
  await ask(admin, `CREATE DATABASE ${name} TEMPLATE ${name}_kept`);
  const back = await open();
  const after = await set(back, "c");
  expect(after.epoch).not.toBe(before.epoch);
  expect(await keysInMemory(back)).toEqual(["a", "c"]);
  await back.close();
});

test("a new epoch is taken over by servers that run, and by those that start", async () => {
  const database = await newDatabase();
  const running = await database.open();
  const before = await set(running, "a");
  let anew = 0;
  running.onAnew?.(() => {
    anew += 1;
  });
  const epoch = (await beginNewEpoch(database.address, realWorld)) ?? "";
  expect(["", before.epoch]).not.toContain(epoch);
  expect(await set(running, "b")).toEqual({ epoch, seq: before.seq + 1 });
  expect(anew).toBe(1);
  const started = await database.open();
  expect(await set(started, "c")).toEqual({ epoch, seq: before.seq + 2 });
  expect(await keysInMemory(running)).toEqual(["a", "b", "c"]);
  expect(await beginNewEpoch("a-file.db", realWorld)).toBeUndefined();
});

test("servers whose sessions are in other time zones share an epoch", async () => {
  const database = await newDatabase();
  const one = await database.open();
  const before = await set(one, "a");
  const name = new URL(database.address).pathname.slice(1);
  await ask(database.address, `ALTER DATABASE ${name} SET timezone = 'Asia/Tokyo'`);
  await ask(database.address, `ALTER DATABASE ${name} SET datestyle = 'German'`);
  const other = await database.open();
  expect((await set(other, "b")).epoch).toBe(before.epoch);
  expect((await set(one, "c")).epoch).toBe(before.epoch);
});

test("a connection that is cut costs what was on it, and nothing after it", async () => {
  const database = await newDatabase();
  const host = await database.open();
  await set(host, "a");
  const cut = host.store.write(
    async (context) => {
      const open = await context.open(notes());
      open.document.setEntry("memories", "lost", { value: "x", now: context.now });
      await ask(
        database.address,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
    },
    { owner: ann },
  );
  await expect(cut).rejects.toThrow("the database can't be reached");
  await set(host, "b");
  expect(await keysInMemory(host)).toEqual(["a", "b"]);
  expect(await keysOf(host)).toEqual(["a", "b"]);
});

test("what may be lost after it was acknowledged is not acknowledged", async () => {
  const database = await newDatabase();
  const host = await database.open();
  await set(host, "a");
  await ask(database.address, "ALTER ROLE memsync SET synchronous_commit = off");
  try {
    await ask(
      database.address,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await waitFor("the refusal", () =>
      set(host, "b").then(
        () => false,
        (thrown) => String(thrown).includes("synchronous_commit"),
      ),
    );
  } finally {
    await ask(database.address, "ALTER ROLE memsync RESET synchronous_commit");
  }
  expect(await keysOf(host)).toEqual(["a"]);
});

test("an account that somebody holds keeps no other account's writes waiting", async () => {
  const database = await newDatabase();
  const host = await database.open();
  await set(host, "a");
  const holder = new pg.Client({ connectionString: database.address });
  await holder.connect();
  await holder.query("BEGIN");
  await holder.query("SELECT * FROM owners WHERE owner = 'ann' FOR UPDATE");
  let isDone = false;
  const waiting = [1, 2, 3, 4, 5, 6].map((at) => set(host, `waits-${at}`));
  const all = Promise.all(waiting).finally(() => {
    isDone = true;
  });
  for (let at = 0; at < 10; at++) await set(host, `key-${at}`, { owner: bob });
  expect(isDone).toBe(false);
  await holder.query("COMMIT");
  await holder.end();
  const heads = await all;
  expect(heads.map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6, 7]);
  expect(await keysOf(host)).toHaveLength(7);
});

test("a commit of which nobody knows whether it was one is told so, and not tried again", async () => {
  const database = await newDatabase();
  const [host, other] = [await database.open(), await database.open()];
  await set(host, "a");
  const clientId = host.store.writer.clientId;
  // Ends each connection whose transaction is about to be committed, once.
  await ask(
    database.address,
    `CREATE FUNCTION end_this() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`,
  );
  await ask(
    database.address,
    `CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON updates DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION end_this()`,
  );
  await expect(set(host, "b")).rejects.toThrow("whether this was saved is not known");
  await ask(database.address, "DROP TRIGGER at_commit ON updates");
  expect(host.store.writer.clientId).not.toBe(clientId);
  await set(host, "c");
  expect(await keysInMemory(host)).toEqual(await keysOf(other));
  expect(await keysOf(other)).toEqual(["a", "c"]);
});

test("a sweep packs histories, and of two servers one does it", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  for (let at = 0; at < 8; at++) await set(one, "a", { value: `version ${at}` });
  await Promise.all([one.store.sweep(), other.store.sweep()]);
  const figures = async (table: "revisions" | "revision_packs") => {
    const rows = await one.store.reader.selectFrom(table).select("id").execute();
    return rows.length;
  };
  expect(await figures("revision_packs")).toBe(1);
  expect(await figures("revisions")).toBe(0);
  const [document] = await one.store.reader.selectFrom("documents").select("id").execute();
  const versions = await listRevisions(narrowTables(one.store.reader), document?.id ?? 0, {
    kind: "memory",
    key: "a",
  });
  expect(versions.map(({ value }) => value)).toEqual(
    [6, 5, 4, 3, 2, 1, 0].map((at) => `version ${at}`),
  );
});

test("of each key the oldest revisions beyond those that are kept go, and no others", async () => {
  const servers = await newDatabase();
  const server = await servers.open();
  const count = HISTORY.revisionsPerKey + 3;
  for (const value of ["1", "2"]) await set(server, "seldom", { value });
  for (let at = 0; at <= count; at++) await set(server, "often", { value: `${at}` });
  const rows = await server.store.reader
    .selectFrom("revisions")
    .select(["key", "value"])
    .orderBy("id")
    .execute();
  const newest = Array.from({ length: HISTORY.revisionsPerKey }, (_, at) => `${at + 3}`);
  const valuesOf = (key: string) => rows.filter((row) => row.key === key).map(({ value }) => value);
  expect([valuesOf("seldom"), valuesOf("often")]).toEqual([["1"], newest]);
});

test("more writes than can wait are refused with a time to come back", async () => {
  const database = await newDatabase();
  const host = await database.open();
  await set(host, "a");
  const outcomes = await Promise.allSettled(
    Array.from({ length: 4200 }, () => host.store.write(async () => {}, { owner: ann })),
  );
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(4200 - 4096);
  expect(refused[0]).toMatchObject({ reason: { code: "rate_limited", retryAfterSeconds: 2 } });
});

test("an account whose row is gone gets another", async () => {
  const database = await newDatabase();
  const host = await database.open();
  await set(host, "a");
  await ask(database.address, "DELETE FROM owners");
  await set(host, "b");
  expect(await keysInMemory(host)).toEqual(["a", "b"]);
});

test("a database whose rows were put back, as by a dump, is another one", async () => {
  const database = await newDatabase();
  const [one, other] = [await database.open(), await database.open()];
  const before = await set(one, "a");
  await ask(
    database.address,
    `CREATE TABLE dumped AS TABLE incarnation; DELETE FROM incarnation;
    INSERT INTO incarnation SELECT * FROM dumped`,
  );
  const after = await set(one, "b");
  expect(after.epoch).not.toBe(before.epoch);
  expect((await set(other, "c")).epoch).toBe(after.epoch);
});

test("a database whose rows were only moved or locked is the same", async () => {
  const database = await newDatabase();
  const host = await database.open();
  const before = await set(host, "a");
  for (const how of ["FREEZE", "FULL"]) await ask(database.address, `VACUUM (${how}) incarnation`);
  await ask(database.address, "SELECT * FROM incarnation FOR UPDATE");
  expect((await set(host, "b")).epoch).toBe(before.epoch);
});
