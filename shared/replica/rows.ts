import type { Kysely } from "kysely";
import { memoryIdOf } from "../ids.ts";
import { compiled } from "../sqlite/compiled.ts";
import { wireDocumentId } from "./address.ts";
import { type DocumentChanges, OWN_METADATA_PREFIX, type ReplicaDocument } from "./document.ts";
import type { ReplicaTables } from "./tables.ts";

type Db = Kysely<ReplicaTables>;

/** Whose rows to write, and when, in milliseconds since the Unix epoch. */
export interface RowsTarget {
  readonly documentId: number;
  readonly name: string;
  readonly now: number;
}

/**
 * Brings the rows that are derived from a document (memories, text, metadata) up to what changed
 * in it, and keeps what was written over as revisions. Belongs in the transaction of the change.
 */
export async function writeRows(
  db: Db,
  target: RowsTarget,
  document: ReplicaDocument,
  changes: DocumentChanges,
): Promise<void> {
  for (const key of changes.memoryKeys) await writeMemory(db, target, document, key);
  for (const key of changes.metadataKeys) {
    const winner = document.metadata.get(key)[0];
    if (winner) await putMetadata(db, target.documentId, key, JSON.stringify(winner.value));
    else await dropMetadata(db, target.documentId, key);
  }
  if (changes.text) await writeText(db, target, document);
}

async function writeMemory(
  db: Db,
  { documentId, name, now }: RowsTarget,
  document: ReplicaDocument,
  key: string,
): Promise<void> {
  const entries = document.memories.get(key);
  const winner = entries[0];
  const [replaced] = await findMemory(db, documentId, key);
  if (replaced && replaced.value !== winner?.value) {
    const { value, updated_at: writtenAt } = replaced;
    await addRevision(db, documentId, "memory", key, value, writtenAt, now);
  }
  if (!winner) {
    if (replaced) await dropMemory(db, documentId, key);
    return;
  }
  const value = String(winner.value);
  const { created_at: createdAt, updated_at: updatedAt } = winner;
  const ids = JSON.stringify(entries.map(({ id }) => [id.client, id.clock]));
  if (!replaced) {
    const memoryId = memoryIdOf(wireDocumentId(name), key);
    await addMemory(db, documentId, key, memoryId, value, createdAt, updatedAt, ids);
    return;
  }
  await updateMemory(db, documentId, key, value, updatedAt, ids);
  // Seldom: a column that is named is written to its index again, even where it stays the same.
  if (replaced.created_at !== createdAt) await moveMemory(db, documentId, key, createdAt);
}

async function writeText(
  db: Db,
  { documentId, now }: RowsTarget,
  document: ReplicaDocument,
): Promise<void> {
  const content = document.content();
  const [replaced] = await findText(db, documentId);
  if (replaced?.content === content) return;
  if (replaced) {
    await addRevision(db, documentId, "text", "", replaced.content, replaced.updated_at, now);
  }
  await putText(db, documentId, content, now);
}

/** Whether a metadata key is shown to anyone outside. */
export function isPublicKey(key: string): boolean {
  return !key.startsWith(OWN_METADATA_PREFIX);
}

const findMemory = compiled((db: Db, documentId: number, key: string) =>
  db
    .selectFrom("memories")
    .select(["value", "created_at", "updated_at"])
    .where("document_id", "=", documentId)
    .where("key", "=", key),
);

const addMemory = compiled(
  (
    db: Db,
    documentId: number,
    key: string,
    memoryId: string,
    value: string,
    createdAt: number,
    updatedAt: number,
    entryIds: string,
  ) =>
    db.insertInto("memories").values({
      document_id: documentId,
      key,
      memory_id: memoryId,
      value,
      created_at: createdAt,
      updated_at: updatedAt,
      entry_ids: entryIds,
    }),
);

const updateMemory = compiled(
  (db: Db, documentId: number, key: string, value: string, updatedAt: number, entryIds: string) =>
    db
      .updateTable("memories")
      .set({ value, updated_at: updatedAt, entry_ids: entryIds })
      .where("document_id", "=", documentId)
      .where("key", "=", key),
);

const moveMemory = compiled((db: Db, documentId: number, key: string, createdAt: number) =>
  db
    .updateTable("memories")
    .set({ created_at: createdAt })
    .where("document_id", "=", documentId)
    .where("key", "=", key),
);

const dropMemory = compiled((db: Db, documentId: number, key: string) =>
  db.deleteFrom("memories").where("document_id", "=", documentId).where("key", "=", key),
);

const addRevision = compiled(
  (
    db: Db,
    documentId: number,
    kind: "memory" | "text",
    key: string,
    value: string,
    writtenAt: number,
    replacedAt: number,
  ) =>
    db.insertInto("revisions").values({
      document_id: documentId,
      kind,
      key,
      value,
      written_at: writtenAt,
      replaced_at: replacedAt,
    }),
);

const putMetadata = compiled((db: Db, documentId: number, key: string, value: string) =>
  db
    .insertInto("metadata")
    .values({ document_id: documentId, key, value })
    .onConflict((conflict) =>
      conflict
        .columns(["document_id", "key"])
        .doUpdateSet((excluded) => ({ value: excluded.ref("excluded.value") })),
    ),
);

const dropMetadata = compiled((db: Db, documentId: number, key: string) =>
  db.deleteFrom("metadata").where("document_id", "=", documentId).where("key", "=", key),
);

const findText = compiled((db: Db, documentId: number) =>
  db.selectFrom("texts").select(["content", "updated_at"]).where("document_id", "=", documentId),
);

const putText = compiled((db: Db, documentId: number, content: string, updatedAt: number) =>
  db
    .insertInto("texts")
    .values({ document_id: documentId, content, updated_at: updatedAt })
    .onConflict((conflict) =>
      conflict.column("document_id").doUpdateSet((excluded) => ({
        content: excluded.ref("excluded.content"),
        updated_at: excluded.ref("excluded.updated_at"),
      })),
    ),
);
