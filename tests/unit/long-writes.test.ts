import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import * as Y from "yjs";
import { writePlain } from "../../server/services/plain-write.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { deleteProject, deletionOf } from "../../shared/replica/document/project-deletion.ts";
import { serveExchange } from "../../shared/replica/store/exchange.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { SqliteConnection } from "../../shared/sqlite/connection.ts";
import { pauseOf } from "../../shared/turns.ts";
import { failureOf } from "../support/failure.ts";
import { shownValue } from "../support/replicas.ts";
import { address, checkFullText, memoriesOf, setMemory } from "../support/stored.ts";
import { type Store, storesOfTests } from "../support/temp-store.ts";
import { createTestWorld } from "../support/test-world.ts";
import { watched } from "../support/watched-connection.ts";

const newStore = storesOfTests();

const MANY = Array.from({ length: 500 }, (_, at) => ({ key: `key-${at}`, value: `value ${at}` }));

function writeMany(store: Store, name: string, value?: string): Promise<void> {
  return store.write((context) => setMany(context, name, value));
}

async function setMany(
  context: Parameters<Parameters<Store["write"]>[0]>[0],
  name: string,
  value?: string,
): Promise<void> {
  const open = await context.open(address(name));
  const values = value === undefined ? MANY : MANY.map(({ key }) => ({ key, value }));
  open.document.setEntries("memories", values, context.now);
  await context.flush(open);
  if (value === "refused") throw new Error("refused");
}

/** Writes something short, and waits for all that is done after it. */
async function writeShort(store: Store, value: string): Promise<void> {
  const { promise: idle, resolve } = Promise.withResolvers<void>();
  store.whenIdle(resolve);
  await setMemory(store, "short", value, "b");
  await idle;
}

async function countRows(store: Store): Promise<number> {
  const rows = await store.reader.selectFrom("memories").select("key").execute();
  return rows.length;
}

test("a long write pauses, and nobody sees any of it before its commit", async () => {
  const seen: number[] = [];
  const pause = async () => void seen.push(await countRows(temp.store));
  const temp = await newStore({ pause });
  await writeMany(temp.store, "a");
  expect(seen.length).toBeGreaterThan(20);
  expect(new Set(seen)).toEqual(new Set([0]));
  expect(await countRows(temp.store)).toBe(MANY.length);
  seen.length = 0;
  await writeMany(temp.store, "a", "changed");
  expect(seen.length).toBeGreaterThan(55);
  expect(new Set(seen)).toEqual(new Set([MANY.length]));
  await checkFullText(temp);
});

test("what is asked for while a long write pauses is written after it", async () => {
  const order: string[] = [];
  const others: Promise<void>[] = [];
  const pause = async () => {
    if (others.length > 0) return;
    others.push(setMemory(temp.store, "key-7", "later").then(() => void order.push("later")));
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const temp = await newStore({ pause });
  await writeMany(temp.store, "a").then(() => void order.push("long"));
  await Promise.all(others);
  expect(order).toEqual(["long", "later"]);
  expect(await memoriesOf(temp.store)).toMatchObject({ "key-6": "value 6", "key-7": "later" });
});

test("a long write that is refused after its pauses leaves nothing", async () => {
  const temp = await newStore({ pause: async () => {} });
  const [failure] = await Promise.all([
    failureOf(() => writeMany(temp.store, "a", "refused")),
    setMemory(temp.store, "mine", "v", "b"),
  ]);
  expect(String(failure)).toContain("refused");
  expect(await countRows(temp.store)).toBe(1);
  expect(await memoriesOf(temp.store)).toEqual({});
});

test("a plain sync of many memories pauses as it edits, and is one row of the log", async () => {
  const steps: number[] = [];
  const temp = await newStore({ pause: async () => void steps.push(steps.length) });
  await temp.store.write(async (context) => {
    const open = await context.open(address());
    const memories = Array.from({ length: 2000 }, (_, at) => ({ key: `key-${at}`, value: "v" }));
    const changes = await writePlain(open, { name: "Name", memories }, context);
    expect(changes).toEqual({ created: 2000, updated: 0, unchanged: 0 });
    expect(steps.length).toBeGreaterThan(5);
    const others = memories.map((each, at) => (at % 2 ? each : { ...each, value: "w" }));
    expect(await writePlain(open, { memories: others }, context)).toEqual({
      created: 0,
      updated: 1000,
      unchanged: 1000,
    });
  });
  const rows = await temp.store.reader.selectFrom("updates").select("payload").execute();
  expect(rows).toHaveLength(1);
  const fresh = new ReplicaDocument([rows[0]?.payload ?? new Uint8Array()], 1);
  expect(fresh.projectName()).toBe("Name");
  const values = Array.from({ length: 2000 }, (_, at) => shownValue(fresh, `key-${at}`));
  expect(values).toEqual(values.map((_, at) => (at % 2 ? "v" : "w")));
  await checkFullText(temp);
});

test("a project of many memories is deleted in turns, as one row of the log", async () => {
  let pauses = 0;
  const temp = await newStore({ pause: async () => void pauses++ });
  const memories = Array.from({ length: 3000 }, (_, at) => ({ key: `key-${at}`, value: "v" }));
  await temp.store.write(async (context) => {
    const open = await context.open(address());
    await writePlain(open, { claude_md_content: "text\n", memories }, context);
  });
  await temp.store.write(async (context) => {
    const { document } = await context.open(address());
    pauses = 0;
    await deleteProject(document, context.now, { pause: context.pause });
    expect(pauses).toBe(4);
  });
  expect(await countRows(temp.store)).toBe(0);
  const rows = await temp.store.reader.selectFrom("updates").select("payload").execute();
  expect(rows).toHaveLength(2);
  const payloads = rows.map(({ payload }) => payload);
  const other = new ReplicaDocument(payloads, 7);
  expect([[...other.memories.keys()], other.content(), deletionOf(other) !== undefined]).toEqual([
    [],
    "",
    true,
  ]);
  await checkFullText(temp);
});

test("many fields of metadata are one item of the document, and go together", async () => {
  const temp = await newStore();
  const metadata = (value: number | null) =>
    Object.fromEntries(MANY.map(({ key }) => [key, value]));
  await temp.store.write(async (context) => {
    const open = await context.open(address());
    await writePlain(open, { metadata: metadata(1) }, context);
    const { store, clientID } = open.document.ydoc;
    expect(store.clients.get(clientID)).toHaveLength(1);
    await writePlain(open, { metadata: { ...metadata(null), kept: 2 } }, context);
    expect([...open.document.metadata.keys()]).toEqual(["kept"]);
  });
});

test("an update from outside is admitted, applied and written in turns", async () => {
  const seen: (boolean | undefined)[] = [];
  let open: OpenDocument | undefined;
  const temp = await newStore({ pause: async () => void seen.push(open?.dirty) });
  const other = new ReplicaDocument([], 77);
  other.setEntries("memories", MANY, 1);
  const request = { update: Y.encodeStateAsUpdate(other.ydoc) };
  await temp.store.write(async (context) => {
    open = await context.open(address());
    const rights = { canWrite: true };
    await serveExchange(context, address(), { request, rights });
  });
  expect(seen.slice(0, seen.indexOf(true)).length).toBeGreaterThan(1);
  expect(seen.length).toBeGreaterThan(10);
  expect(await countRows(temp.store)).toBe(MANY.length);
});

test("what a long commit leaves to later turns is done after those who wait for it", async () => {
  const ran: string[] = [];
  const wrap = (connection: SqliteConnection) => watched(connection, (sql) => void ran.push(sql));
  const temp = await newStore({ pause: async () => void ran.push("pause"), wrap });
  const sizeOf = () => statSync(temp.path).size;
  await setMemory(temp.store, "short", "v", "b");
  expect(ran.filter((sql) => sql.includes("wal_"))).toEqual([]);
  const before = sizeOf();
  ran.length = 0;
  await writeMany(temp.store, "a", "x".repeat(2000));
  expect(sizeOf()).toBe(before);
  const ends = ["pause", "SAVEPOINT step", "RELEASE step", "PRAGMA wal_autocheckpoint = 0"];
  expect(ran.slice(ran.lastIndexOf("SAVEPOINT step") - 1)).toEqual([...ends, "pause", "COMMIT"]);
  await writeShort(temp.store, "w");
  expect(sizeOf() - before).toBeGreaterThan(500_000);
  const [first, second] = ran.filter((sql) => sql.includes("wal_")).slice(1);
  expect([first, second]).toEqual([
    "PRAGMA wal_autocheckpoint = 1000",
    "PRAGMA wal_checkpoint(PASSIVE)",
  ]);
  await checkFullText(temp);
});

test("who has waited for a long commit does not wait for its log to be written back", async () => {
  const ran: string[] = [];
  const wrap = (connection: SqliteConnection) => watched(connection, (sql) => void ran.push(sql));
  const temp = await newStore({ pause: async () => {}, wrap });
  const long = temp.store.write((context) => setMany(context, "a", "x".repeat(2000)), {
    isLong: true,
  });
  const others = ["one", "two"].map((key) =>
    setMemory(temp.store, key, "v", "b").then(() => void ran.push(key)),
  );
  await Promise.all([long, ...others]);
  await setMemory(temp.store, "later", "v", "b");
  const seen = ran.filter((sql) => /^(COMMIT|one|two|PRAGMA wal_c.*)$/.test(sql));
  const back = "PRAGMA wal_checkpoint(PASSIVE)";
  expect(seen).toEqual(["COMMIT", "COMMIT", "one", "two", back, "COMMIT"]);
});

test("after a long write that is refused the log is written back as ever", async () => {
  const ran: string[] = [];
  const wrap = (connection: SqliteConnection) =>
    watched(connection, (sql) => {
      ran.push(sql);
      if (sql === "COMMIT" && ran.includes("PRAGMA wal_autocheckpoint = 0")) {
        if (!ran.includes("refused")) {
          ran.push("refused");
          throw new Error("the disk is full");
        }
      }
    });
  const temp = await newStore({ pause: async () => {}, wrap });
  const failure = await failureOf(() => writeMany(temp.store, "a", "x".repeat(2000)));
  expect(String(failure)).toContain("the disk is full");
  await writeShort(temp.store, "v");
  expect(ran).toContain("PRAGMA wal_autocheckpoint = 1000");
  expect(await memoriesOf(temp.store)).toEqual({});
});

test("a pause ends a turn that has lasted, and no other", async () => {
  const world = createTestWorld();
  const pause = pauseOf(world);
  expect(pause()).toBeUndefined();
  world.advance(5);
  let goesOn = false;
  const paused = pause()?.then(() => {
    goesOn = true;
  });
  await Promise.resolve();
  expect(goesOn).toBe(false);
  await paused;
  expect(pause()).toBeUndefined();
});
