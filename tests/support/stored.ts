import { sql } from "kysely";
import { asAccountId } from "../../shared/ids.ts";
import { projectDocument } from "../../shared/replica/document/address.ts";
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

/** Throws when the full-text index does not match the rows. */
export async function checkFullText(temp: TempStore): Promise<void> {
  await sql`insert into memories_text (memories_text, rank) values ('integrity-check', 1)`.execute(
    temp.database.writer,
  );
}
