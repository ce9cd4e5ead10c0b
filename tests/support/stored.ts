import { expect } from "bun:test";
import { sql } from "kysely";
import { asAccountId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
import { spacedWords } from "../../shared/replica/search/words.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { projectId } from "./project-id.ts";
import { viewOf } from "./replicas.ts";
import type { Store, TempStore } from "./temp-store.ts";

export const OWNER = asAccountId("acct");

export function address(name = "a") {
  return projectDocument(OWNER, projectId(name));
}

/** Sets one memory of a document. Resolves to what `setEntry` answered, once it is durable. */
export function setMemory(store: Store, key: string, value: string, name = "a"): Promise<boolean> {
  return store.write(async (context) => {
    const { document } = await context.open(address(name));
    return document.setEntry("memories", key, { value, now: context.now });
  });
}

/** Reads from a document as the store has it in memory. */
export function inspect<Result>(
  store: Store,
  read: (open: OpenDocument) => Result,
  name = "a",
): Promise<Result> {
  return store.write(async (context) => read(await context.open(address(name))));
}

/** The memories of a document, by key, as the store has it in memory. */
export function memoriesOf(store: Store, name = "a"): Promise<Record<string, unknown>> {
  return inspect(store, ({ document }) => shownMemories(document), name);
}

function shownMemories(document: OpenDocument["document"]): Record<string, unknown> {
  const entries = [...document.memories.keys()].sort();
  return Object.fromEntries(entries.map((key) => [key, document.memories.get(key)[0]?.value]));
}

/** The memories of a document, by key, as the rows on the disk say. */
export async function memoryRows(store: Store, name = "a"): Promise<Record<string, unknown>> {
  const rows = await store.reader
    .selectFrom("memories")
    .innerJoin("documents", "documents.id", "memories.document_id")
    .select(["key", "value"])
    .where("name", "=", address(name).name)
    .orderBy("key")
    .execute();
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

/** What a document shows, in memory and after the store was closed and opened again. */
export async function viewsAroundRestart(temp: TempStore, name = "a") {
  const before = await inspect(temp.store, ({ document }) => viewOf(document), name);
  await temp.reopen();
  const after = await inspect(temp.store, ({ document }) => viewOf(document), name);
  return { before, after };
}

/** Fails when the full-text index does not have the words of the rows, each in its place. */
export async function checkFullText({ database: { writer } }: TempStore): Promise<void> {
  await sql`insert into memories_text (memories_text) values ('integrity-check')`.execute(writer);
  await sql`create virtual table if not exists temp.indexed_words
    using fts5vocab(main, memories_text, instance)`.execute(writer);
  const { rows: words } = await sql<{ term: string; doc: number; col: "key" | "value" }>`
    select term, doc, col from indexed_words order by doc, col, offset`.execute(writer);
  const indexed = Map.groupBy(words, ({ doc }) => doc);
  const { rows } = await sql<{ row_id: number; key: string; value: string }>`
    select row_id, key, value from memories`.execute(writer);
  const wordsIn = (row: number, column: "key" | "value") =>
    (indexed.get(row) ?? []).flatMap(({ term, col }) => (col === column ? [term] : []));
  const found = rows.map(({ row_id }) => [wordsIn(row_id, "key"), wordsIn(row_id, "value")]);
  const wanted = rows.map(({ key, value }) => [key, value].map(wordsOfText));
  expect(found).toEqual(wanted);
  expect([...indexed.keys()].filter((row) => !rows.some(({ row_id }) => row_id === row))).toEqual(
    [],
  );
}

function wordsOfText(text: string): string[] {
  return spacedWords(text)
    .split(" ")
    .filter((word) => word !== "");
}
