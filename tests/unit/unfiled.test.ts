import { expect, test } from "bun:test";
import { keepImage, putBackImage } from "../../server/stores/data-images.ts";
import { deleteDocument } from "../../server/stores/purge-store.ts";
import { HISTORY, listRevisions } from "../../shared/replica/history/revisions.ts";
import { address, inspect, OWNER, setMemory } from "../support/stored.ts";
import { type Store, storesOfTests, type TempStore } from "../support/temp-store.ts";
import { waitFor } from "../support/wait-for.ts";
import { watched } from "../support/watched-connection.ts";

const newStore = storesOfTests();

const LATER = { indexesLater: true } as const;

async function valuesOf(store: Store, key = "k", name = "a"): Promise<string[]> {
  const id = await inspect(store, (open) => open.id, name);
  const revisions = await listRevisions(store.reader, id, { kind: "memory", key });
  return revisions.map(({ value }) => value);
}

async function countIn(store: Store, table: "revisions" | "unfiled"): Promise<number> {
  return (await store.reader.selectFrom(table).select("id").execute()).length;
}

/** Until all of it is filed, as ten seconds after a commit. */
async function fileLater({ store, world }: TempStore): Promise<void> {
  world.advance(10_000);
  await waitFor("the filing", async () => (await countIn(store, "unfiled")) === 0);
}

test("a commit on a server touches no history but for one row at a table's end", async () => {
  const statements: string[] = [];
  const wrap = (connection: Parameters<typeof watched>[0]) =>
    watched(connection, (statement) => void statements.push(statement));
  const temp = await newStore({ ...LATER, wrap });
  await setMemory(temp.store, "k", "former");
  statements.length = 0;
  await setMemory(temp.store, "k", "latter");
  expect(statements.filter((each) => each.includes('"unfiled"'))).toHaveLength(1);
  expect(statements.filter((each) => each.includes("revisions"))).toEqual([]);
});

test("what one write replaces is filed by key, however it was written", async () => {
  const temp = await newStore(LATER);
  const keys = Array.from({ length: 300 }, (_, at) => `key-${(at * 7) % 300}`);
  const writeAll = (value: string) =>
    temp.store.write(async (context) => {
      const { document } = await context.open(address());
      const entries = keys.map((key) => ({ key, value }));
      document.setEntries("memories", entries, context.now);
    });
  for (const value of ["1", "2"]) await writeAll(value);
  await fileLater(temp);
  const filed = await temp.store.reader
    .selectFrom("revisions")
    .select("key")
    .orderBy("id")
    .execute();
  expect(filed.map(({ key }) => key)).toEqual(keys.toSorted());
});

test("a history is whole and in its order, whatever of it is filed", async () => {
  const temp = await newStore(LATER);
  for (const value of ["1", "2", "3"]) await setMemory(temp.store, "k", value);
  expect(await valuesOf(temp.store)).toEqual(["2", "1"]);
  await fileLater(temp);
  expect(await valuesOf(temp.store)).toEqual(["2", "1"]);
  for (const value of ["4", "5"]) await setMemory(temp.store, "k", value);
  expect([await countIn(temp.store, "revisions"), await countIn(temp.store, "unfiled")]).toEqual([
    2, 2,
  ]);
  expect(await valuesOf(temp.store)).toEqual(["4", "3", "2", "1"]);
  await temp.store.sweep();
  expect(await valuesOf(temp.store)).toEqual(["4", "3", "2", "1"]);
});

test("what was left unfiled at an end is filed, also by a store that files at once", async () => {
  const temp = await newStore(LATER);
  for (const value of ["1", "2"]) await setMemory(temp.store, "k", value);
  await temp.reopen(LATER);
  await setMemory(temp.store, "k", "3");
  await fileLater(temp);
  expect(await valuesOf(temp.store)).toEqual(["2", "1"]);
  await setMemory(temp.store, "k", "4");
  await temp.reopen();
  await setMemory(temp.store, "k", "5");
  expect(await countIn(temp.store, "unfiled")).toBe(0);
  expect(await valuesOf(temp.store)).toEqual(["4", "3", "2", "1"]);
});

/** Overwrites fifty memories, and adds more than one step indexes. */
async function writeOn({ store }: TempStore, at: number): Promise<void> {
  const keys = [
    ...Array.from({ length: 50 }, (_, each) => `often-${each}`),
    ...Array.from({ length: 300 }, (_, each) => `new-${at}-${each}`),
  ];
  await store.write(async (context) => {
    const { document } = await context.open(address());
    const entries = keys.map((key) => ({ key, value: `${at}` }));
    document.setEntries("memories", entries, context.now);
  });
}

/** How much of the index is behind. */
async function behindIn(store: Store): Promise<number> {
  return (await store.reader.selectFrom("unindexed").select("row_id").execute()).length;
}

test("while writes never rest, and the index is always behind, what is unfiled stays bounded", async () => {
  const temp = await newStore(LATER);
  await writeOn(temp, 0);
  temp.world.advance(10_000);
  for (let at = 1; at <= 20; at++) {
    await writeOn(temp, at);
    expect(await countIn(temp.store, "unfiled")).toBeLessThanOrEqual(200);
    expect(await behindIn(temp.store)).toBeGreaterThan(0);
  }
  await waitFor("the rest", async () => (await behindIn(temp.store)) === 0);
  expect(await countIn(temp.store, "unfiled")).toBe(0);
});

test("what follows writes that never rest takes one commit at a time", async () => {
  let steps = 0;
  const wrap = (connection: Parameters<typeof watched>[0]) =>
    watched(connection, (statement) => {
      if (statement.includes("delete from unindexed")) steps += 1;
    });
  const temp = await newStore({ ...LATER, wrap });
  const counts: number[] = [];
  for (let at = 0; at < 10; at++) {
    temp.world.advance(10_000);
    steps = 0;
    await Promise.all(Array.from({ length: 8 }, (_, each) => writeOn(temp, at * 8 + each)));
    counts.push(steps);
  }
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
});

test("an end does not wait until all is filed", async () => {
  const temp = await newStore(LATER);
  const keys = Array.from({ length: 2000 }, (_, at) => `key-${at}`);
  for (const value of ["1", "2"]) {
    await temp.store.write(async (context) => {
      const { document } = await context.open(address());
      const entries = keys.map((key) => ({ key, value }));
      document.setEntries("memories", entries, context.now);
    });
  }
  // Of the full-text index nothing is behind, so that filing begins at once.
  await temp.store.search(OWNER, async () => {});
  temp.world.advance(10_000);
  await temp.reopen(LATER);
  expect(await countIn(temp.store, "unfiled")).toBeGreaterThan(1000);
  await temp.store.sweep();
  expect(await countIn(temp.store, "unfiled")).toBe(0);
  expect(await valuesOf(temp.store, "key-7")).toEqual(["1"]);
});

test("of a key that has too many the oldest are no longer shown, and go when they are filed", async () => {
  const temp = await newStore(LATER);
  const count = HISTORY.revisionsPerKey + 200;
  for (let at = 0; at <= count; at++) await setMemory(temp.store, "k", `${at}`);
  await setMemory(temp.store, "seldom", "former", "b");
  await setMemory(temp.store, "seldom", "latter", "b");
  const newest = Array.from({ length: HISTORY.revisionsPerKey }, (_, at) => `${count - 1 - at}`);
  expect(await valuesOf(temp.store)).toEqual(newest);
  await fileLater(temp);
  expect(await valuesOf(temp.store)).toEqual(newest);
  expect(await valuesOf(temp.store, "seldom", "b")).toEqual(["former"]);
  expect(await countIn(temp.store, "revisions")).toBe(HISTORY.revisionsPerKey + 1);
});

test("a write that throws leaves nothing unfiled", async () => {
  const temp = await newStore(LATER);
  await setMemory(temp.store, "k", "former");
  const failing = temp.store.write(async (context) => {
    const open = await context.open(address());
    open.document.setEntry("memories", "k", { value: "lost", now: context.now });
    await context.flush(open);
    throw new Error("changed its mind");
  });
  await Promise.allSettled([failing, setMemory(temp.store, "l", "beside", "b")]);
  expect(await countIn(temp.store, "unfiled")).toBe(0);
});

test("of a document that was removed nothing stays unfiled, and the others' is filed", async () => {
  const temp = await newStore(LATER);
  for (const name of ["a", "b"]) {
    for (const value of ["1", "2"]) await setMemory(temp.store, "k", value, name);
  }
  const gone = await inspect(temp.store, ({ id }) => id);
  await temp.database.write((db) => deleteDocument(db as never, gone));
  expect(await countIn(temp.store, "unfiled")).toBe(1);
  await setMemory(temp.store, "k", "3", "b");
  await fileLater(temp);
  expect(await valuesOf(temp.store, "k", "b")).toEqual(["2", "1"]);
  expect(await countIn(temp.store, "revisions")).toBe(2);
});

test("an image of the data has what was unfiled, and it comes back with that", async () => {
  const temp = await newStore(LATER);
  for (const value of ["1", "2"]) await setMemory(temp.store, "k", value);
  await temp.store.write(({ db }) => keepImage(db as never, 1));
  await setMemory(temp.store, "k", "3");
  const id = await inspect(temp.store, (open) => open.id);
  await temp.store.write(async (context) => {
    await deleteDocument(context.db as never, id);
    await putBackImage(context.db as never, 1);
    context.reread(address().owner);
  });
  expect(await valuesOf(temp.store)).toEqual(["1"]);
  await setMemory(temp.store, "k", "4");
  expect(await valuesOf(temp.store)).toEqual(["2", "1"]);
});
