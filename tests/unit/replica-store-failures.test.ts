import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { asAccountId } from "../../shared/ids.ts";
import type { SqliteConnection } from "../../shared/sqlite/connection.ts";
import { failureOf } from "../support/failure.ts";
import {
  checkFullText,
  memoriesOf,
  memoryRows,
  setMemory,
  viewsAroundRestart,
} from "../support/stored.ts";
import { createTempStore, type Store, type TempStore } from "../support/temp-store.ts";
import { type Watch, watched } from "../support/watched-connection.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

/** What a store is asked to do; each of its writes sets a key of its own to a value of its own. */
const ROUNDS: readonly (readonly { readonly name: string; readonly key: string }[])[] = [
  [{ name: "a", key: "one" }],
  [
    { name: "a", key: "two" },
    { name: "b", key: "one" },
    { name: "a", key: "one" },
  ],
  [{ name: "b", key: "two" }],
];

type Shown = Record<string, Record<string, unknown>>;

/** Runs all rounds. Returns what of them was acknowledged, and how many writes failed. */
async function run(store: Store): Promise<{ acknowledged: Shown; failed: number }> {
  const acknowledged: Shown = { a: {}, b: {} };
  let failed = 0;
  for (const [round, writes] of ROUNDS.entries()) {
    const outcomes = await Promise.allSettled(
      writes.map(({ name, key }) => setMemory(store, key, `round ${round}`, name)),
    );
    for (const [index, { status }] of outcomes.entries()) {
      const { name, key } = writes[index] ?? { name: "", key: "" };
      if (status === "rejected") failed += 1;
      else Object.assign(acknowledged[name] ?? {}, { [key]: `round ${round}` });
    }
  }
  return { acknowledged, failed };
}

async function shownBy(store: Store): Promise<Shown> {
  return { a: await memoriesOf(store, "a"), b: await memoriesOf(store, "b") };
}

async function rowsOf(store: Store): Promise<Shown> {
  return { a: await memoryRows(store, "a"), b: await memoryRows(store, "b") };
}

/** A store written through `watch`. Its failures are made: no commit has to wait for a disk. */
async function storeWith(watch: Watch): Promise<TempStore> {
  const wrap = (connection: SqliteConnection) => {
    connection.exec("PRAGMA synchronous = OFF");
    return watched(connection, watch);
  };
  return await createTempStore({ wrap });
}

async function countStatements(): Promise<number> {
  let statements = 0;
  const temp = await storeWith(() => {
    statements += 1;
  });
  await run(temp.store);
  await temp.remove();
  return statements;
}

/** Runs the rounds once for each statement, with what `failing` makes of that one. */
async function failAtEach(
  failing: (sql: string, execute: () => void) => void,
  check: (temp: TempStore, outcome: Awaited<ReturnType<typeof run>>) => Promise<void>,
): Promise<void> {
  const total = await countStatements();
  expect(total).toBeGreaterThan(30);
  for (let at = 1; at <= total; at++) {
    let statements = 0;
    const temp = await storeWith((sql, execute) => {
      statements += 1;
      if (statements === at) failing(sql, execute);
    });
    await check(temp, await run(temp.store));
    await temp.remove();
  }
}

describe("a statement that fails", () => {
  test("a statement that fails loses no acknowledged write and leaves nothing of a refused one, whichever it is", async () => {
    let failures = 0;
    await failAtEach(
      (sql) => {
        throw new Error(`disk I/O error at ${sql}`);
      },
      async (temp, { acknowledged, failed }) => {
        failures += failed;
        expect(await shownBy(temp.store)).toEqual(acknowledged);
        expect(await rowsOf(temp.store)).toEqual(acknowledged);
        await checkFullText(temp);
        await setMemory(temp.store, "after", "1");
        const { before, after } = await viewsAroundRestart(temp);
        expect(after).toEqual(before);
        expect(await shownBy(temp.store)).toEqual({
          a: { ...acknowledged.a, after: "1" },
          b: acknowledged.b ?? {},
        });
      },
    );
    expect(failures).toBeGreaterThan(0);
  });

  test("after its effect leaves memory equal to the disk, whichever it is", async () => {
    await failAtEach(
      (sql, execute) => {
        execute();
        throw new Error(`disk I/O error after ${sql}`);
      },
      async (temp, { acknowledged }) => {
        const shown = await shownBy(temp.store);
        expect(await rowsOf(temp.store)).toEqual(shown);
        await checkFullText(temp);
        for (const [name, memories] of Object.entries(acknowledged)) {
          // Of a write whose commit failed after its effect nobody can tell whether it is there.
          for (const [key, value] of Object.entries(memories)) {
            expect(String(shown[name]?.[key]) >= String(value)).toBeTrue();
          }
        }
        const { before, after } = await viewsAroundRestart(temp);
        expect(after).toEqual(before);
      },
    );
  });

  test("a statement that fails and makes SQLite roll all back by itself fails the writes of that commit alone", async () => {
    let rolledBack = 0;
    const total = await countStatements();
    for (let at = 1; at <= total; at++) {
      let statements = 0;
      const temp = await createTempStore({
        wrap: (connection) =>
          watched(connection, (sql) => {
            statements += 1;
            if (statements !== at || sql.startsWith("BEGIN")) return;
            connection.prepare("ROLLBACK").run([]);
            rolledBack += 1;
            throw new Error("database or disk is full");
          }),
      });
      const { acknowledged } = await run(temp.store);
      expect(await shownBy(temp.store)).toEqual(acknowledged);
      await temp.reopen();
      expect(await shownBy(temp.store)).toEqual(acknowledged);
      await temp.remove();
    }
    expect(rolledBack).toBeGreaterThan(30);
  });

  test("a statement that fails and the rollback too does not keep later writes from beginning", async () => {
    let failing = false;
    const temp = await storeWith((sql) => {
      if (failing && /^(insert|ROLLBACK)/.test(sql)) throw new Error("disk I/O error");
    });
    await setMemory(temp.store, "k", "1");
    failing = true;
    for (let attempt = 0; attempt < 2; attempt++) {
      const failure = await failureOf(() => setMemory(temp.store, "k", "lost"));
      expect(failure).toBeInstanceOf(Error);
    }
    failing = false;
    await setMemory(temp.store, "l", "2");
    expect(await memoriesOf(temp.store)).toEqual({ k: "1", l: "2" });
    await temp.reopen();
    expect(await memoriesOf(temp.store)).toEqual({ k: "1", l: "2" });
    await temp.remove();
  });
});

test("a database that is really full refuses writes, keeps what it has and recovers", async () => {
  const temp = await createTempStore({
    wrap: (connection) => {
      connection.exec("PRAGMA max_page_count = 60");
      return connection;
    },
  });
  const acknowledged: Record<string, string> = {};
  let refused = 0;
  for (let at = 0; at < 40; at++) {
    const value = `${at}`.repeat(4000);
    const writes = [`k${at}`, `l${at}`].map(async (key) => {
      await setMemory(temp.store, key, value);
      acknowledged[key] = value;
    });
    const outcomes = await Promise.allSettled(writes);
    refused += outcomes.filter(({ status }) => status === "rejected").length;
  }
  expect(refused).toBeGreaterThan(0);
  expect(Object.keys(acknowledged).length).toBeGreaterThan(0);
  expect(await memoriesOf(temp.store)).toEqual(acknowledged);
  expect(await memoryRows(temp.store)).toEqual(acknowledged);
  await temp.reopen();
  expect(await memoriesOf(temp.store)).toEqual(acknowledged);
  await setMemory(temp.store, "room", "again");
  expect(await memoriesOf(temp.store)).toEqual({ ...acknowledged, room: "again" });
  await temp.remove();
});

test("a document that was given away in vain is not known by its new owner's name", async () => {
  const temp = await createTempStore();
  try {
    const [from, to] = ["one", "other"].map((owner) => ({
      owner: asAccountId(owner),
      name: "proj_a",
    }));
    if (!from || !to) throw new Error("there are two");
    await temp.store.write((context) => context.open(from));
    const moved = temp.store.write(async (context) => {
      await context.giveTo(await context.open(from), to.owner);
      await context.open(to);
      throw new Error("in vain");
    });
    await expect(moved).rejects.toThrow("in vain");
    const found = (address: typeof from) =>
      temp.store.write(async (context) => (await context.find(address))?.id);
    expect(await found(to)).toBeUndefined();
    expect(await found(from)).toBeDefined();
  } finally {
    await temp.remove();
  }
});
