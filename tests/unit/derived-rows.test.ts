import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { memoryIdOf } from "../../shared/ids.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { anyEdit, applyEdit } from "../support/replicas.ts";
import { address, checkFullText, inspect, setMemory } from "../support/stored.ts";
import { storesOfTests, type TempStore } from "../support/temp-store.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const newStore = storesOfTests();

describe("derived rows", () => {
  test("derived rows equal the document whatever was done to it, and so does the full-text index", async () => {
    const edits = fc.array(fc.array(anyEdit, { maxLength: 4 }), { minLength: 1, maxLength: 8 });
    const temp = await newStore();
    let round = 0;
    const property = fc.asyncProperty(edits, async (writes) => {
      round += 1;
      const name = `round-${round}`;
      for (const each of writes) {
        await temp.store.write(async (context) => {
          const { document } = await context.open(address(name));
          for (const edit of each) applyEdit(document, edit, context.now);
        });
      }
      const { expected, id } = await inspect(temp.store, rowsOfDocument, name);
      expect<unknown>(await rowsOfDisk(temp, id)).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 100 });
    await checkFullText(temp);
  });

  test("derived rows equal the document when hundreds are written at once, in their order", async () => {
    const temp = await newStore();
    const keyOf = (at: number) => `key ${at % 7}-${at}`;
    const valuesOf = (from: number, to: number, value: string) =>
      Array.from({ length: to - from }, (_, at) => ({ key: keyOf(from + at), value }));
    const write = (edit: (document: OpenDocument["document"], now: number) => void) =>
      temp.store.write(async (context) => {
        const { document } = await context.open(address("many"));
        document.change("local", () => edit(document, context.now));
      });
    await write((document, now) => document.setEntries("memories", valuesOf(0, 201, "a"), now));
    temp.world.advance(1000);
    await write((document) => {
      for (let at = 0; at < 200; at += 5) document.deleteEntry("memories", keyOf(at));
    });
    await write((document, now) => {
      const some = [...valuesOf(101, 150, "a"), ...valuesOf(150, 350, "b")];
      const changed = document.setEntries("memories", some, now);
      expect(changed.filter((each) => each)).toHaveLength(209);
    });
    const { expected, id } = await inspect(temp.store, rowsOfDocument, "many");
    expect<unknown>(await rowsOfDisk(temp, id)).toEqual(expected);
    await checkFullText(temp);
    const rows = await temp.store.reader
      .selectFrom("memories")
      .select("key")
      .where("document_id", "=", id)
      .where("value", "=", "b")
      .where("key", "like", "key 3-%")
      .orderBy("row_id")
      .execute();
    const all = rows.map(({ key }) => Number(key.slice("key 3-".length)));
    const added = all.filter((at) => at > 200);
    expect(added.length).toBeGreaterThan(20);
    expect(added).toEqual(added.toSorted((one, other) => one - other));
    temp.world.advance(1000);
    await write((document, now) => {
      document.setEntries("memories", valuesOf(0, 340, "c"), now);
      for (let at = 341; at < 350; at++) document.deleteEntry("memories", keyOf(at));
    });
    const later = await inspect(temp.store, rowsOfDocument, "many");
    expect<unknown>(await rowsOfDisk(temp, id)).toEqual(later.expected);
    await checkFullText(temp);
  });

  test("revisions keep every value that was replaced or deleted, oldest first", async () => {
    const temp = await newStore();
    const contents = ["one\n", "one\ntwo\n", "two"];
    for (const [index, value] of ["1", "2", "2", "3"].entries()) {
      temp.world.advance(1000);
      await setMemory(temp.store, "k", value);
      await temp.store.write(async (context) => {
        (await context.open(address())).document.setContent(contents[index] ?? "", context.now);
      });
    }
    await temp.store.write(async (context) => {
      (await context.open(address())).document.deleteEntry("memories", "k");
    });
    const rows = await temp.store.reader
      .selectFrom("revisions")
      .select(["kind", "key", "value", "written_at", "replaced_at"])
      .orderBy("id")
      .execute();
    const values = (kind: string) =>
      rows.filter((row) => row.kind === kind).map((row) => row.value);
    expect(values("memory")).toEqual(["1", "2", "3"]);
    expect(values("text")).toEqual(contents);
    for (const row of rows) expect(row.replaced_at).toBeGreaterThanOrEqual(row.written_at);
  });
});

function rowsOfDocument({ id, document, address: { name } }: OpenDocument) {
  const memories = [...document.memories.keys()].sort().map((key) => {
    const entries = document.memories.get(key);
    const [winner] = entries;
    return {
      key,
      memory_id: memoryIdOf(name, key),
      value: winner?.value,
      created_at: winner?.created_at,
      updated_at: winner?.updated_at,
      entry_ids: JSON.stringify(entries.map(({ id: each }) => [each.client, each.clock])),
    };
  });
  const metadata = [...document.metadata.keys()].sort().map((key) => {
    return { key, value: JSON.stringify(document.metadata.get(key)[0]?.value) };
  });
  return { id, expected: { memories, metadata, content: document.content() } };
}

async function rowsOfDisk({ store: { reader } }: TempStore, id: number) {
  const memories = await reader
    .selectFrom("memories")
    .select(["key", "memory_id", "value", "created_at", "updated_at", "entry_ids"])
    .where("document_id", "=", id)
    .orderBy("key")
    .execute();
  const metadata = await reader
    .selectFrom("metadata")
    .select(["key", "value"])
    .where("document_id", "=", id)
    .orderBy("key")
    .execute();
  const texts = reader.selectFrom("texts").select("content").where("document_id", "=", id);
  const content = (await texts.executeTakeFirst())?.content ?? "";
  return { memories, metadata, content };
}
