import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { crc32 } from "node:zlib";
import { sql } from "kysely";
import { asAccountId } from "../../shared/ids.ts";
import { decompress } from "../../shared/replica/log/compressed.ts";
import { CorruptDocumentError } from "../../shared/replica/log/corrupt-document-error.ts";
import type { CommittedRow } from "../../shared/replica/store/open-document.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import { failureOf } from "../support/failure.ts";
import { viewOf } from "../support/replicas.ts";
import {
  address,
  inspect,
  memoriesOf,
  memoryRows,
  setMemory,
  viewsAroundRestart,
} from "../support/stored.ts";
import { storesOfTests, type TempStore } from "../support/temp-store.ts";
import { watched } from "../support/watched-connection.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const newStore = storesOfTests();

/** A store that keeps the statements it runs. */
async function watchedStore() {
  const statements: string[] = [];
  const watch = (sql: string) => {
    statements.push(sql);
  };
  const temp = await newStore({ wrap: (connection) => watched(connection, watch) });
  const count = (sql: string) => statements.filter((each) => each.startsWith(sql)).length;
  return { temp, statements, count };
}

describe("writes", () => {
  test("an acknowledged write is on the disk", async () => {
    const temp = await newStore();
    await setMemory(temp.store, "k", "v");
    expect(await memoryRows(temp.store)).toEqual({ k: "v" });
    const { before, after } = await viewsAroundRestart(temp);
    expect(after).toEqual(before);
    expect(await memoriesOf(temp.store)).toEqual({ k: "v" });
  });

  test("a write that throws leaves memory and disk as before, and the next one works", async () => {
    const temp = await newStore();
    await setMemory(temp.store, "k", "1");
    const before = await inspect(temp.store, ({ document }) => viewOf(document));
    const changed = new Error("changed my mind");
    const failing = temp.store.write(async (context) => {
      const document = await context.open(address());
      document.document.setEntry("memories", "k", { value: "lost", now: context.now });
      await context.flush(document);
      document.document.setContent("lost too\n", context.now);
      throw changed;
    });
    expect(await failureOf(() => failing)).toBe(changed);
    expect(await inspect(temp.store, ({ document }) => viewOf(document))).toEqual(before);
    expect(await memoryRows(temp.store)).toEqual({ k: "1" });
    await setMemory(temp.store, "k", "2");
    expect((await inspect(temp.store, ({ head }) => head)).seq).toBe(2);
    const { before: memory, after } = await viewsAroundRestart(temp);
    expect(after).toEqual(memory);
  });

  test("a write that throws does not touch the others of its commit", async () => {
    const { temp, count } = await watchedStore();
    await setMemory(temp.store, "k", "0");
    const commits = count("COMMIT");
    const throwing = temp.store.write(async (context) => {
      const { document } = await context.open(address());
      document.setEntry("memories", "k", { value: "lost", now: context.now });
      await context.open(address("never-made"));
      throw new Error("no");
    });
    const outcomes = await Promise.allSettled([
      setMemory(temp.store, "a", "1"),
      throwing,
      setMemory(temp.store, "b", "2"),
      setMemory(temp.store, "c", "3", "made"),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(count("COMMIT")).toBe(commits + 1);
    expect(await memoriesOf(temp.store)).toEqual({ a: "1", b: "2", k: "0" });
    expect(await memoriesOf(temp.store, "made")).toEqual({ c: "3" });
    const names = await temp.store.reader.selectFrom("documents").select("name").execute();
    expect(names.map(({ name }) => name)).toEqual(["proj_a", "proj_made"]);
    const { before, after } = await viewsAroundRestart(temp);
    expect(after).toEqual(before);
  });

  test("a document that a failed write made is made again by the next one", async () => {
    const { store } = await newStore();
    const making = (fails: boolean) =>
      store.write(async (context) => {
        const found = await context.find(address("b"));
        await context.open(address("b"));
        if (fails) throw new Error("no");
        return found;
      });
    // Alone in its transaction, and as one step of several.
    await Promise.allSettled([making(true)]);
    const outcomes = await Promise.allSettled([making(true), making(false), making(false)]);
    expect(outcomes[1]).toEqual({ status: "fulfilled", value: undefined });
    expect(outcomes[2]).toMatchObject({ status: "fulfilled", value: { address: address("b") } });
    await setMemory(store, "k", "v", "b");
    expect(await memoriesOf(store, "b")).toEqual({ k: "v" });
  });

  test("writes that wait together share one commit, and all are acknowledged after it", async () => {
    const { temp, count } = await watchedStore();
    await setMemory(temp.store, "k", "0");
    const commits = count("COMMIT");
    const seenAtCommit: number[] = [];
    temp.store.onCommit((rows) => seenAtCommit.push(rows.length));
    const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key, index) => setMemory(temp.store, key, "v", `p${index % 7}`)));
    expect(count("COMMIT")).toBe(commits + 1);
    expect(seenAtCommit).toEqual([100]);
  });

  test("a change that comes to nothing writes nothing", async () => {
    const temp = await newStore();
    await setMemory(temp.store, "k", "v");
    expect(await setMemory(temp.store, "k", "v")).toBeFalse();
    expect((await inspect(temp.store, ({ head }) => head)).seq).toBe(1);
  });

  test("a refused write that changed nothing does not make the document load again", async () => {
    const temp = await newStore();
    await setMemory(temp.store, "k", "v");
    const before = await inspect(temp.store, (open) => open);
    const refused = temp.store.write(async (context) => {
      await context.open(address());
      throw new Error("over a limit");
    });
    expect(await failureOf(() => refused)).toBeInstanceOf(Error);
    expect(await inspect(temp.store, (open) => open)).toBe(before);
  });

  test("a flush that failed ends its write, even where the failure is caught", async () => {
    const temp = await newStore({
      wrap: (connection) =>
        watched(connection, (sql) => {
          if (sql.includes('insert into "updates"')) throw new Error("no room");
        }),
    });
    const write = temp.store.write(async (context) => {
      const document = await context.open(address());
      document.document.setEntry("memories", "k", { value: "v", now: context.now });
      await context.flush(document).catch(() => undefined);
    });
    expect(String(await failureOf(() => write))).toContain("ends its write");
    expect(await memoryRows(temp.store)).toEqual({});
  });

  test("commits are announced in order, after they are durable, and once", async () => {
    const temp = await newStore();
    const heard: CommittedRow[] = [];
    const stop = temp.store.onCommit((rows) => heard.push(...rows));
    await setMemory(temp.store, "a", "1");
    await Promise.all([setMemory(temp.store, "b", "2"), setMemory(temp.store, "c", "3")]);
    stop();
    await setMemory(temp.store, "d", "4");
    expect(heard.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(heard.map(({ changes }) => [...changes.memoryKeys])).toEqual([["a"], ["b"], ["c"]]);
    const rows = await temp.store.reader.selectFrom("updates").select("payload").execute();
    expect(heard.map(({ update }) => update)).toEqual(
      rows.slice(0, 3).map(({ payload }) => new Uint8Array(payload)),
    );
  });

  test("a listener that throws takes nothing from the writes", async () => {
    const temp = await newStore();
    const thrownLater: unknown[] = [];
    const { defer } = temp.world;
    const catching = (callback: () => void) => async () => {
      thrownLater.push(await failureOf(async () => callback()));
    };
    Object.assign(temp.world, { defer: (callback: () => void) => defer(catching(callback)) });
    const bug = new Error("a bug");
    temp.store.onCommit(() => {
      throw bug;
    });
    await setMemory(temp.store, "k", "1");
    await setMemory(temp.store, "k", "2");
    expect(await memoriesOf(temp.store)).toEqual({ k: "2" });
    expect(thrownLater.filter((thrown) => thrown === bug).length).toBe(2);
  });

  test("more documents than are kept open are all readable", async () => {
    const temp = await newStore();
    const names = Array.from({ length: 600 }, (_, index) => `p${index}`);
    await Promise.all(names.map((name) => setMemory(temp.store, "k", name, name)));
    for (const name of names) expect(await memoriesOf(temp.store, name)).toEqual({ k: name });
  });
});

describe("positions", () => {
  test("rows are numbered without a gap, and each start opens an epoch with its first row", async () => {
    const temp = await newStore();
    await setMemory(temp.store, "k", "1");
    await setMemory(temp.store, "k", "2");
    await temp.reopen();
    expect(await inspect(temp.store, ({ head }) => head)).toEqual({ epoch: "epoch-1", seq: 2 });
    await setMemory(temp.store, "k", "3");
    expect(await inspect(temp.store, ({ head }) => head)).toEqual({ epoch: "epoch-2", seq: 3 });
    const rows = await temp.store.reader
      .selectFrom("updates")
      .select(["seq", "epoch", "origin"])
      .orderBy("seq")
      .execute();
    expect(rows).toEqual([
      { seq: 1, epoch: "epoch-1", origin: "local" },
      { seq: 2, epoch: "epoch-1", origin: "local" },
      { seq: 3, epoch: "epoch-2", origin: "local" },
    ]);
    const epochs = await temp.store.reader
      .selectFrom("epochs")
      .select(["first_seq", "epoch"])
      .orderBy("first_seq")
      .execute();
    expect(epochs).toEqual([
      { first_seq: 1, epoch: "epoch-1" },
      { first_seq: 3, epoch: "epoch-2" },
    ]);
  });

  test("a document that was never written is at no epoch and 0", async () => {
    const temp = await newStore();
    expect(await inspect(temp.store, ({ head }) => head)).toEqual({ epoch: "", seq: 0 });
    await temp.reopen();
    expect(await inspect(temp.store, ({ head }) => head)).toEqual({ epoch: "", seq: 0 });
  });
});

describe("snapshots", () => {
  const payloads = async (temp: TempStore) => {
    const rows = await temp.store.reader
      .selectFrom("updates")
      .select("seq")
      .orderBy("seq")
      .execute();
    const snapshot = await temp.store.reader.selectFrom("snapshots").select("seq").execute();
    return { first: rows[0]?.seq, rows: rows.length, snapshot: snapshot[0]?.seq };
  };

  async function writeMany(temp: TempStore, count: number): Promise<void> {
    for (let at = 0; at < count; at += 200) {
      const rest = Math.min(200, count - at);
      const writes = Array.from({ length: rest }, (_, index) => {
        return setMemory(temp.store, `key-${index % 10}`, `value-${at + index} of ${count}`);
      });
      await Promise.all(writes);
    }
  }

  test("snapshots are written every 256 rows; 1,024 rows before one stay for those who lag", async () => {
    const temp = await newStore();
    await writeMany(temp, 255);
    expect(await payloads(temp)).toEqual({ first: 1, rows: 255, snapshot: undefined });
    await writeMany(temp, 1);
    expect(await payloads(temp)).toEqual({ first: 1, rows: 256, snapshot: 256 });
    await writeMany(temp, 1280);
    expect(await payloads(temp)).toEqual({ first: 513, rows: 1024, snapshot: 1536 });
    const { before, after } = await viewsAroundRestart(temp);
    expect(after).toEqual(before);
    expect(await inspect(temp.store, ({ head }) => head)).toEqual({ epoch: "epoch-1", seq: 1536 });
    await setMemory(temp.store, "k", "v");
    expect((await inspect(temp.store, ({ head }) => head)).seq).toBe(1537);
  });

  test("snapshots never drop a row that somebody still needs", async () => {
    const temp = await newStore({ droppable: async () => 100 });
    await writeMany(temp, 1536);
    expect(await payloads(temp)).toEqual({ first: 101, rows: 1436, snapshot: 1536 });
  });
});

test("a snapshot is compressed, and one of 0.1.0, which is not, is read as well", async () => {
  const temp = await newStore();
  const page = "a line that repeats\n".repeat(50);
  for (let at = 0; at < 300; at++) await setMemory(temp.store, `k${at % 20}`, `${at} ${page}`);
  const { writer } = temp.database;
  const { payload, bytes } = await writer
    .selectFrom("snapshots")
    .select(["payload", "bytes"])
    .executeTakeFirstOrThrow();
  expect(payload.length).toBeLessThan((bytes ?? 0) / 10);
  const { before, after } = await viewsAroundRestart(temp);
  expect(after).toEqual(before);
  const plain = decompress(payload, bytes ?? 0);
  await temp.database.writer
    .updateTable("snapshots")
    .set({ payload: plain, checksum: crc32(plain), bytes: null })
    .execute();
  expect((await viewsAroundRestart(temp)).after).toEqual(before);
});

describe("damage", () => {
  async function damaged(damage: (temp: TempStore) => Promise<unknown>): Promise<TempStore> {
    const temp = await newStore();
    for (let at = 0; at < 300; at++) await setMemory(temp.store, "k", String(at));
    await setMemory(temp.store, "k", "other", "other");
    await damage(temp);
    await temp.reopen();
    return temp;
  }

  const flip = (payload: Uint8Array) => payload.map((byte, at) => (at === 5 ? byte ^ 1 : byte));
  const damages: Record<string, (temp: TempStore) => Promise<unknown>> = {
    "a changed row": async ({ database: { writer } }) => {
      const row = writer.selectFrom("updates").select("payload").where("seq", "=", 280);
      const { payload } = await row.where("document_id", "=", 1).executeTakeFirstOrThrow();
      const update = writer.updateTable("updates").set({ payload: flip(payload) });
      await update.where("seq", "=", 280).where("document_id", "=", 1).execute();
    },
    "a changed snapshot": async ({ database: { writer } }) => {
      const row = writer.selectFrom("snapshots").select("payload");
      const { payload } = await row.executeTakeFirstOrThrow();
      await writer
        .updateTable("snapshots")
        .set({ payload: flip(payload) })
        .execute();
    },
    "a missing row": ({ database: { writer } }) =>
      writer.deleteFrom("updates").where("seq", "=", 280).execute(),
    "a missing last row": ({ database: { writer } }) =>
      writer.deleteFrom("updates").where("seq", "=", 300).execute(),
    "a missing snapshot": ({ database: { writer } }) => writer.deleteFrom("snapshots").execute(),
  };

  for (const [name, damage] of Object.entries(damages)) {
    test(`${name} is found when the document loads, and no other document suffers`, async () => {
      const temp = await damaged(damage);
      const [broken, sound] = await Promise.allSettled([
        setMemory(temp.store, "k", "new"),
        setMemory(temp.store, "k", "new", "other"),
      ]);
      if (name === "a missing snapshot") {
        // All rows are still there, so nothing is lost.
        expect(await memoriesOf(temp.store)).toEqual({ k: "new" });
      } else {
        expect(broken.status === "rejected" && broken.reason).toBeInstanceOf(CorruptDocumentError);
      }
      expect(sound.status).toBe("fulfilled");
      expect(await memoriesOf(temp.store, "other")).toEqual({ k: "new" });
    });
  }
});

describe("the database", () => {
  test("the database runs a query that is compiled once with the values of each call", async () => {
    const { store } = await newStore();
    let built = 0;
    const find = compiled(
      (
        db: typeof store.reader,
        {
          name,
          seq,
          again,
        }: { readonly name: string; readonly seq: number; readonly again: string },
      ) => {
        built += 1;
        return db
          .selectFrom("documents")
          .select(["name", "seq"])
          .where("name", "=", name)
          .where("seq", ">=", seq)
          .where("name", "!=", again)
          .where("owner", "!=", asAccountId("constant"))
          .limit(1);
      },
    );
    await setMemory(store, "k", "v", "a");
    await setMemory(store, "k", "v", "b");
    expect(await find(store.reader, { name: "proj_a", seq: 1, again: "proj_b" })).toEqual([
      { name: "proj_a", seq: 1 },
    ]);
    expect(await find(store.reader, { name: "proj_b", seq: 1, again: "" })).toEqual([
      { name: "proj_b", seq: 1 },
    ]);
    expect(await find(store.reader, { name: "proj_b", seq: 2, again: "" })).toEqual([]);
    expect(await find(store.reader, { name: "proj_b", seq: 1, again: "proj_b" })).toEqual([]);
    expect(built).toBe(1);
  });

  test("the database goes on after more different statements than it keeps", async () => {
    const { store } = await newStore();
    await setMemory(store, "k", "v");
    for (let at = 0; at < 600; at++) {
      await store.reader.selectFrom("documents").select(sql.lit(at).as("at")).execute();
    }
    expect(await memoryRows(store)).toEqual({ k: "v" });
  });

  test("once closed is one file, with nothing left in a write-ahead log", async () => {
    const temp = await newStore();
    await setMemory(temp.store, "k", "v");
    expect(existsSync(`${temp.path}-wal`)).toBeTrue();
    await temp.store.close();
    expect(existsSync(`${temp.path}-wal`)).toBeFalse();
    await temp.restart();
    expect(await memoriesOf(temp.store)).toEqual({ k: "v" });
  });
});
