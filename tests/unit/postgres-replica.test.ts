import { expect, test } from "bun:test";
import pg from "pg";
import type { HostStore } from "../../server/stores/open-store.ts";
import { asAccountId, type ProjectId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
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
