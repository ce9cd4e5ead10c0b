import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { statSync } from "node:fs";
import { sql } from "kysely";
import * as Y from "yjs";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { HISTORY, listRevisions } from "../../shared/replica/history/revisions.ts";
import {
  address,
  checkFullText,
  inspect,
  setMemory,
  viewsAroundRestart,
} from "../support/stored.ts";
import { storesOfTests, type TempStore } from "../support/temp-store.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const DAY_MS = 24 * 60 * 60 * 1000;
const newStore = storesOfTests();

async function revisionsOf({ store }: TempStore, key = "k", kind: "memory" | "text" = "memory") {
  const { id } = await inspect(store, (open) => open);
  return await listRevisions(store.reader, id, { kind, key });
}

async function valuesOf(temp: TempStore, key = "k"): Promise<string[]> {
  return (await revisionsOf(temp, key)).map(({ value }) => value);
}

function setText({ store }: TempStore, content: string): Promise<boolean> {
  return store.write(async (context) => {
    const { document } = await context.open(address());
    return document.setContent(content, context.now);
  });
}

/** Applies an update of another replica, as a sync does. */
function receive({ store }: TempStore, update: Uint8Array): Promise<unknown> {
  return store.write(async (context) => (await context.open(address())).applyUpdate(update));
}

/** What another machine, `client`, makes of the document as it stands here. */
async function writtenElsewhere(
  temp: TempStore,
  client: number,
  write: (document: ReplicaDocument) => void,
): Promise<Uint8Array> {
  const held = await inspect(temp.store, ({ document }) => Y.encodeStateAsUpdate(document.ydoc));
  const there = new ReplicaDocument([held], client);
  write(there);
  return Y.encodeStateAsUpdate(there.ydoc, Y.encodeStateVectorFromUpdate(held));
}

describe("what is kept", () => {
  test("what is kept is the losing version, too, with when and on which machine it was written", async () => {
    const temp = await newStore({ machine: "laptop" });
    await setMemory(temp.store, "k", "of both");
    const there = await writtenElsewhere(temp, 7, (document) => {
      document.setEntry("memories", "k", {
        value: "of the desktop",
        now: temp.world.now() + 5000,
      });
      document.setEntry("metadata", "memsync.machine/7", {
        value: "desktop",
        now: temp.world.now(),
      });
    });
    temp.world.advance(1000);
    const lostAt = temp.world.now();
    await setMemory(temp.store, "k", "of the laptop");
    await receive(temp, there);
    expect(await valuesOf(temp)).toEqual(["of both"]);
    temp.world.advance(60_000);
    await setMemory(temp.store, "k", "of a person");
    const now = temp.world.now();
    const [desktop, laptop] = await revisionsOf(temp);
    expect(desktop).toMatchObject({ value: "of the desktop", machine: "desktop" });
    expect(laptop).toMatchObject({
      value: "of the laptop",
      machine: "laptop",
      writtenAt: lostAt,
      replacedAt: now,
    });
  });

  test("what is kept is a losing version that is dismissed, and not one that is equal to the value", async () => {
    const temp = await newStore();
    await setMemory(temp.store, "k", "old");
    const same = await writtenElsewhere(temp, 7, (document) => {
      document.setEntry("memories", "k", {
        value: "same",
        now: temp.world.now() + 2000,
      });
    });
    const other = await writtenElsewhere(temp, 8, (document) => {
      document.setEntry("memories", "k", {
        value: "lost",
        now: temp.world.now() + 1000,
      });
    });
    temp.world.advance(3000);
    await setMemory(temp.store, "k", "same");
    await receive(temp, same);
    await receive(temp, other);
    await temp.store.write(async (context) => {
      const { document } = await context.open(address());
      const [winner, ...losers] = document.memories.get("k");
      expect(winner?.value).toBe("same");
      document.deleteEntry(
        "memories",
        "k",
        losers.map(({ id }) => id),
      );
    });
    expect(await valuesOf(temp)).toEqual(["lost", "old"]);
  });

  test("what is kept is every version of one transaction, and what was deleted", async () => {
    const temp = await newStore();
    await temp.store.write(async (context) => {
      const { document } = await context.open(address());
      for (const value of ["1", "2", "3"]) {
        document.setEntry("memories", "k", { value, now: context.now });
      }
      document.deleteEntry("memories", "k");
    });
    expect(await valuesOf(temp)).toEqual(["3", "2", "1"]);
  });

  test("what is kept says which machines wrote a text", async () => {
    const temp = await newStore({ machine: "laptop" });
    await setText(temp, "one\n");
    await setText(temp, "one\ntwo\n");
    const there = await writtenElsewhere(temp, 7, (document) => {
      document.setContent("one\ntwo\nthree\n", temp.world.now());
      document.setEntry("metadata", "memsync.machine/7", {
        value: "desktop",
        now: temp.world.now(),
      });
    });
    await receive(temp, there);
    await setText(temp, "one\n");
    await setText(temp, "one\nlast\n");
    const revisions = await revisionsOf(temp, "", "text");
    expect(revisions.map(({ value, machine }) => [value, machine])).toEqual([
      ["one\n", "laptop"],
      ["one\ntwo\nthree\n", "desktop"],
      ["one\ntwo\n", "laptop"],
      ["one\n", "laptop"],
    ]);
  });

  test("what is kept knows the machine of a version that goes in one update with the machine's name", async () => {
    const temp = await newStore();
    await setMemory(temp.store, "k", "old");
    await receive(
      temp,
      await writtenElsewhere(temp, 7, (document) => {
        document.setEntry("memories", "k", {
          value: "of the desktop",
          now: temp.world.now(),
        });
        document.setEntry("metadata", "memsync.machine/7", {
          value: "desktop",
          now: temp.world.now(),
        });
      }),
    );
    await receive(
      temp,
      await writtenElsewhere(temp, 8, (document) => {
        document.change("local", () => {
          document.setEntry("memories", "k", { value: "new", now: temp.world.now() });
          document.deleteEntry("metadata", "memsync.machine/7");
        });
      }),
    );
    const [latest] = await revisionsOf(temp);
    expect(latest).toMatchObject({ value: "of the desktop", machine: "desktop" });
  });
});

describe("the machine's name", () => {
  const machinesIn = (temp: TempStore) =>
    inspect(temp.store, ({ document }) =>
      [...document.metadata.keys()].filter((key) => key.startsWith("memsync.machine/")),
    );

  test("the machine's name is written with the first write of each start, and goes with what that wrote", async () => {
    const temp = await newStore({ machine: "laptop" });
    await setMemory(temp.store, "kept", "1");
    await temp.reopen({ machine: "laptop" });
    expect(await machinesIn(temp)).toEqual(["memsync.machine/1001"]);
    await setMemory(temp.store, "k", "2");
    await temp.reopen({ machine: "laptop" });
    await setMemory(temp.store, "k", "3");
    expect(await machinesIn(temp)).toEqual(["memsync.machine/1001", "memsync.machine/1003"]);
    await setText(temp, "text\n");
    await setMemory(temp.store, "kept", "4");
    await temp.reopen({ machine: "laptop" });
    await setMemory(temp.store, "other", "5");
    expect(await machinesIn(temp)).toEqual(["memsync.machine/1003", "memsync.machine/1004"]);
    const kept = await revisionsOf(temp, "kept");
    expect(kept.map(({ value, machine }) => [value, machine])).toEqual([["1", "laptop"]]);
  });

  test("the machine's name takes nothing from another machine, and is not written by who only deletes", async () => {
    const temp = await newStore({ machine: "laptop" });
    await setMemory(temp.store, "k", "1");
    await temp.reopen({ machine: "desktop" });
    await temp.store.write(async (context) => {
      (await context.open(address())).document.deleteEntry("memories", "k");
    });
    expect(await machinesIn(temp)).toEqual(["memsync.machine/1001"]);
    await setMemory(temp.store, "k", "2");
    expect(await machinesIn(temp)).toEqual(["memsync.machine/1001", "memsync.machine/1002"]);
  });
});

describe("what is dropped", () => {
  test("what is dropped is what a key has beyond 100, for each of many that are written over at once", async () => {
    const temp = await newStore();
    const keys = Array.from({ length: 70 }, (_, at) => `key-${at}`);
    const write = (value: string, some: readonly string[]) =>
      temp.store.write(async (context) => {
        const { document } = await context.open(address());
        document.setEntries(
          "memories",
          some.map((key) => ({ key, value })),
          context.now,
        );
      });
    const rounds = HISTORY.revisionsPerKey + 5;
    for (let round = 0; round < rounds; round++) await write(`${round}`, keys);
    await write("last", keys.slice(1));
    const newest = Array.from({ length: HISTORY.revisionsPerKey }, (_, at) => `${rounds - 1 - at}`);
    expect(await valuesOf(temp, "key-69")).toEqual(newest);
    expect(await valuesOf(temp, "key-0")).toEqual([...newest.slice(1), "4"]);
    const rows = await temp.store.reader.selectFrom("revisions").select("id").execute();
    expect(rows).toHaveLength(keys.length * HISTORY.revisionsPerKey);
    await checkFullText(temp);
  });

  test("what is dropped are a key's oldest versions: exactly the newest 100 are kept", async () => {
    const temp = await newStore();
    const total = HISTORY.revisionsPerKey + 57;
    await setMemory(temp.store, "other", "1");
    await setMemory(temp.store, "other", "2");
    for (let at = 0; at <= total; at++) await setMemory(temp.store, "k", `value ${at}`);
    const newest = Array.from({ length: HISTORY.revisionsPerKey }, (_, at) => {
      return `value ${total - 1 - at}`;
    });
    expect(await valuesOf(temp)).toEqual(newest);
    expect(await valuesOf(temp, "other")).toEqual(["1"]);
    await temp.reopen();
    expect(await valuesOf(temp)).toEqual(newest);
  });

  test("what is dropped is no more than a key may keep when one write takes away thousands", async () => {
    const temp = await newStore();
    await temp.store.write(async (context) => {
      const { document } = await context.open(address());
      for (let at = 0; at < 3000; at++) {
        document.setEntry("memories", "k", {
          value: `value ${at}`,
          now: context.now + at,
          seen: [],
        });
      }
    });
    await setMemory(temp.store, "k", "last");
    const values = await valuesOf(temp);
    expect(values).toHaveLength(HISTORY.revisionsPerKey);
    expect([values[0], values.at(-1)]).toEqual(["value 2999", "value 2900"]);
  });

  test("what is dropped are versions that were written over more than 90 days ago, by a sweep", async () => {
    const temp = await newStore();
    for (const value of ["1", "2", "3", "4"]) {
      await setMemory(temp.store, "k", value);
      temp.world.advance(45 * DAY_MS);
    }
    // Written over 135, 90 and 45 days ago.
    await temp.store.sweep();
    expect(await valuesOf(temp)).toEqual(["3", "2"]);
    temp.world.advance(1);
    await temp.store.sweep();
    expect(await valuesOf(temp)).toEqual(["3"]);
    for (let day = 0; day < 46; day++) {
      temp.world.advance(DAY_MS);
      await temp.store.sweep();
    }
    expect(await valuesOf(temp)).toEqual([]);
    expect(await inspect(temp.store, ({ document }) => document.memories.get("k").length)).toBe(1);
  });

  test("what is dropped gives its room in the file back, and the write-ahead log's", async () => {
    const temp = await newStore();
    const page = "x".repeat(30_000);
    for (let at = 0; at < 90; at++) await setMemory(temp.store, `k${at % 3}`, `${at} ${page}`);
    const before = statSync(temp.path).size + statSync(`${temp.path}-wal`).size;
    temp.world.advance(HISTORY.ageMs + DAY_MS);
    await temp.store.sweep();
    const after = statSync(temp.path).size + statSync(`${temp.path}-wal`).size;
    expect(after).toBeLessThan(before / 2);
    expect(statSync(`${temp.path}-wal`).size).toBe(0);
    const free = await sql`PRAGMA freelist_count`.execute(temp.database.writer);
    expect(free.rows).toEqual([{ freelist_count: 0 }]);
  });

  test("what is dropped are rows of a log that would take more than its document", async () => {
    const temp = await newStore();
    const page = "x".repeat(10_000);
    for (let at = 0; at < 520; at++) await setMemory(temp.store, `k${at % 2}`, `${at} ${page}`);
    const { total } = await temp.store.reader
      .selectFrom("updates")
      .select((select) => select.fn.count<number>("seq").as("total"))
      .executeTakeFirstOrThrow();
    // 13 of 10 KB at the last snapshot, after row 512, and the 8 since.
    expect(total).toBe(13 + 8);
    const { before, after } = await viewsAroundRestart(temp);
    expect(after).toEqual(before);
  });

  test("what is dropped are the rows of a large log, by a sweep, but for those that somebody needs", async () => {
    let needed = 0;
    const temp = await newStore({ droppable: async () => needed });
    const page = "x".repeat(10_000);
    for (let at = 0; at < 60; at++) await setMemory(temp.store, "k", `${at} ${page}`);
    const seqs = async () => {
      const rows = await temp.store.reader.selectFrom("updates").select("seq").execute();
      return rows.map(({ seq }) => seq);
    };
    await temp.store.sweep();
    expect(await seqs()).toHaveLength(60);
    needed = 60;
    await setMemory(temp.store, "k", "last");
    await temp.store.sweep();
    // The last one, and 12 of 10 KB.
    expect(Math.min(...(await seqs()))).toBe(61 - 12);
    const head = await inspect(temp.store, (open) => open.head);
    const { before, after } = await viewsAroundRestart(temp);
    expect(after).toEqual(before);
    expect(await inspect(temp.store, (open) => open.head)).toEqual(head);
  });

  test("what is dropped is what the full-text index has of overwritten values", async () => {
    const temp = await newStore();
    const pages = async () => {
      const { rows } = await sql<{ pages: number }>`
        select count(*) as pages from memories_text_data`.execute(temp.database.writer);
      return rows[0]?.pages ?? 0;
    };
    const words = Array.from({ length: 2500 }, (_, at) => `word${at}`);
    for (let at = 0; at < 120; at++) {
      words.push(words.shift() ?? "");
      await setMemory(temp.store, `k${at % 5}`, `${at} ${words.join(" ")}`);
    }
    const before = await pages();
    await temp.store.sweep();
    const after = await pages();
    expect(after).toBeLessThan(before);
    await sql`insert into memories_text (memories_text) values ('optimize')`.execute(
      temp.database.writer,
    );
    expect(await pages()).toBe(after);
    await checkFullText(temp);
  });
});
