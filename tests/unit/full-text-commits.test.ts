import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { sql } from "kysely";
import { asAccountId } from "../../shared/ids.ts";
import { replicaMigrations } from "../../shared/replica/log/migrations.ts";
import type { ReplicaTables } from "../../shared/replica/log/tables.ts";
import { ReplicaStore } from "../../shared/replica/store/store.ts";
import { openDatabase } from "../../shared/sqlite/database.ts";
import { migrate } from "../../shared/sqlite/migrate.ts";
import { address, checkFullText, memoryRows, OWNER, setMemory } from "../support/stored.ts";
import {
  createTempStore,
  type Store,
  type TempStore,
  type TempStoreOptions,
} from "../support/temp-store.ts";
import { createTestWorld } from "../support/test-world.ts";
import { waitFor } from "../support/wait-for.ts";
import { watched } from "../support/watched-connection.ts";

setDefaultTimeout(60_000);

const opened: TempStore[] = [];

afterEach(async () => {
  for (const temp of opened.splice(0)) await temp.remove();
});

/** A store, and the statements that it has run on the full-text index. */
async function watchedStore(options: TempStoreOptions = {}) {
  const indexed: string[] = [];
  const all: string[] = [];
  const watch = (statement: string) => {
    all.push(statement);
    if (statement.includes("memories_text")) indexed.push(statement);
  };
  const temp = await createTempStore({
    ...options,
    wrap: (connection) => watched(connection, watch),
  });
  opened.push(temp);
  return { temp, indexed, all };
}

async function found(store: Pick<Store, "reader">, word: string): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select memories.key from memories_text join memories on row_id = memories_text.rowid
    where memories_text match ${word} order by memories.key`.execute(store.reader);
  return rows.map(({ key }) => key);
}

function deleteMemory(store: Store, key: string, name = "a"): Promise<boolean> {
  return store.write(async (context) => {
    const { document } = await context.open(address(name));
    return document.deleteEntry("memories", key);
  });
}

/** Writes, sees to it that the rows are written, and then throws. */
function failToSet(store: Store, key: string, value: string, name = "a"): Promise<never> {
  return store.write(async (context) => {
    const open = await context.open(address(name));
    open.document.setEntry("memories", key, { value, now: context.now });
    await context.flush(open);
    throw new Error("changed its mind");
  });
}

describe("the full-text index", () => {
  test("the full-text index is written at the end of a commit, once for each row that has changed", async () => {
    const { temp, indexed, all } = await watchedStore();
    await setMemory(temp.store, "k", "oldest");
    indexed.length = 0;
    all.length = 0;
    await Promise.all([
      setMemory(temp.store, "k", "older"),
      setMemory(temp.store, "l", "fresh", "b"),
      setMemory(temp.store, "k", "newest"),
    ]);
    // The old value of `k` goes, its last one and `l` come.
    expect(indexed).toHaveLength(3);
    const afterIndexing = [expect.stringContaining("delete from unindexed"), "COMMIT"];
    expect(all.slice(all.indexOf(indexed[0] ?? ""))).toEqual([...indexed, ...afterIndexing]);
    expect(await found(temp.store, "newest")).toEqual(["k"]);
    expect(await found(temp.store, "fresh")).toEqual(["l"]);
    expect(await found(temp.store, "older")).toEqual([]);
    await checkFullText(temp);
  });

  test("the full-text index holds nothing of a write that threw, and all of the others of its commit", async () => {
    const { temp } = await watchedStore();
    await setMemory(temp.store, "k", "first");
    const outcomes = await Promise.allSettled([
      setMemory(temp.store, "k", "second"),
      failToSet(temp.store, "k", "lost"),
      failToSet(temp.store, "l", "lost"),
      setMemory(temp.store, "m", "third"),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "fulfilled",
    ]);
    expect(await found(temp.store, "lost")).toEqual([]);
    expect(await found(temp.store, "second")).toEqual(["k"]);
    expect(await found(temp.store, "third")).toEqual(["m"]);
    await checkFullText(temp);
  });

  test("the full-text index follows a row whose id goes over to another key within one commit", async () => {
    const { temp } = await watchedStore();
    await setMemory(temp.store, "k", "former");
    await Promise.all([deleteMemory(temp.store, "k"), setMemory(temp.store, "l", "latter", "b")]);
    expect(await found(temp.store, "former")).toEqual([]);
    expect(await found(temp.store, "latter")).toEqual(["l"]);
    await checkFullText(temp);
  });

  test.each([false, true])(
    "the full-text index says what the rows say after any writes, deletions and failures in any commits, later: %p",
    async (indexesLater) => {
      const { temp } = await watchedStore({ indexesLater });
      const search = (word: string) => temp.store.search(OWNER, () => found(temp.store, word));
      const step = fc.record({
        kind: fc.constantFrom("set", "set", "delete", "fail"),
        key: fc.constantFrom("one", "two", "three"),
        name: fc.constantFrom("a", "b"),
        value: fc.constantFrom("red", "green", "blue green", "blue"),
      });
      const property = fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 4 }),
        async (commits) => {
          for (const steps of commits) {
            await Promise.allSettled(
              steps.map(({ kind, key, name, value }) => {
                if (kind === "delete") return deleteMemory(temp.store, key, name);
                const write = kind === "set" ? setMemory : failToSet;
                return write(temp.store, key, value, name);
              }),
            );
          }
          const greens = await search("green");
          await checkFullText(temp);
          const rows = await Promise.all(["a", "b"].map((name) => memoryRows(temp.store, name)));
          const green = rows.flatMap((memories) =>
            Object.keys(memories).filter((key) => String(memories[key]).includes("green")),
          );
          expect(greens).toEqual(green.sort());
        },
      );
      await fc.assert(property, { numRuns: 60 });
    },
  );

  test("an index that follows later has all that is committed when somebody searches", async () => {
    const { temp, indexed } = await watchedStore({ indexesLater: true });
    await setMemory(temp.store, "k", "former");
    await setMemory(temp.store, "k", "latter");
    await setMemory(temp.store, "mine", "latter", "b");
    expect(indexed).toEqual([]);
    const search = (word: string) => temp.store.search(OWNER, () => found(temp.store, word));
    expect(await search("latter")).toEqual(["k", "mine"]);
    // Of `k` its last value alone was ever indexed.
    expect(indexed).toHaveLength(2);
    await deleteMemory(temp.store, "k");
    expect(await search("latter")).toEqual(["mine"]);
    expect(await search("former")).toEqual([]);
    await checkFullText(temp);
  });

  test("an index that follows later does so by itself, also what was left at an end", async () => {
    const { temp, indexed } = await watchedStore({ indexesLater: true });
    await setMemory(temp.store, "k", "before");
    await temp.reopen({ indexesLater: true });
    expect(indexed).toEqual([]);
    await setMemory(temp.store, "l", "after");
    temp.world.advance(10_000);
    await waitFor("the index", async () => (await found(temp.store, "before")).length === 1);
    await temp.store.write(async () => {});
    expect(await found(temp.store, "after")).toEqual(["l"]);
    await checkFullText(temp);
  });

  test("a search waits for the searching owner's memories alone", async () => {
    const { temp } = await watchedStore({ indexesLater: true });
    await setMemory(temp.store, "k", "mine");
    await temp.store.search(asAccountId("another"), async () => {
      expect(await found(temp.store, "mine")).toEqual([]);
    });
  });

  test("what is written while a search runs makes it run again", async () => {
    const { temp } = await watchedStore({ indexesLater: true });
    await setMemory(temp.store, "k", "first");
    let times = 0;
    const keys = await temp.store.search(OWNER, async () => {
      times += 1;
      if (times === 1) await setMemory(temp.store, "k", "second");
      return await found(temp.store, "second");
    });
    expect([times, keys]).toEqual([2, ["k"]]);
  });

  test("the full-text index that triggers have written is taken over and followed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "memsync-triggers-"));
    const database = await openDatabase<ReplicaTables>({ path: join(folder, "replica.db") });
    const step = replicaMigrations.findIndex(({ name }) => name.endsWith("full-text-by-commit"));
    await migrate(database.writer, replicaMigrations.slice(0, step));
    await sql`insert into documents (id, owner, name, created_at, updated_at)
      values (1, 'acct', 'proj_z', 0, 0)`.execute(database.writer);
    await sql`insert into memories
      (document_id, key, memory_id, value, created_at, updated_at, entry_ids)
      values (1, 'kept', 'mem_1', 'ancient', 0, 0, '[]')`.execute(database.writer);
    await migrate(database.writer, replicaMigrations);
    const writer = { epoch: "epoch", clientId: 7 };
    const store = new ReplicaStore({ database, world: createTestWorld(), writer });
    await store.write(async (context) => {
      const { document } = await context.open(address());
      document.setEntry("memories", "k", { value: "modern", now: context.now });
    });
    expect(await found(store, "ancient")).toEqual(["kept"]);
    expect(await found(store, "modern")).toEqual(["k"]);
    await sql`insert into memories_text (memories_text, rank)
      values ('integrity-check', 1)`.execute(database.writer);
    await store.close();
    rmSync(folder, { recursive: true });
  });
});
