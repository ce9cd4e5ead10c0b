import type { Kysely } from "kysely";
import { compiled } from "../../sqlite/compiled.ts";
import { compiledForMany, ROWS_AT_ONCE } from "../../sqlite/many.ts";
import { chunksOf, type Pause } from "../../turns.ts";
import { addUnfiled } from "../history/unfiled.ts";
import { appendRow } from "../log/log-rows.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { keepIndexed, noteAdded } from "../search/unindexed.ts";
import type { DerivedRows, NewMemory, RowBatch } from "./row-batch.ts";

type Db = Kysely<ReplicaTables>;

/**
 * Writes what a flush has worked out, in a write transaction. Of the full-text index, and of each
 * key's history, it only notes what is to follow.
 */
export async function writeBatch(
  db: Db,
  { documentId, now, log, derived }: RowBatch,
  pause: Pause,
): Promise<void> {
  const { revisions, metadata, text } = derived;
  for (const some of chunksOf(revisions, ROWS_AT_ONCE)) {
    addUnfiled(db, documentId, some);
    await pause();
  }
  await writeMemories(db, derived, pause);
  for (const [key, value] of metadata) {
    if (value === undefined) dropMetadata.now(db, { documentId, key });
    else putMetadata.now(db, { documentId, key, value });
  }
  if (text) putText.now(db, { documentId, ...text, updatedAt: now });
  for (const row of log) {
    await pause();
    appendRow(db, row);
  }
}

async function writeMemories(
  db: Db,
  { replacedMemories, addedMemories }: DerivedRows,
  pause: Pause,
): Promise<void> {
  for (const some of chunksOf(replacedMemories, ROWS_AT_ONCE)) {
    await pause();
    const changed = some.filter(({ before, after }) => before.value !== after?.value);
    keepIndexed(
      db,
      changed.map(({ before }) => before.row_id),
    );
    for (const each of some) replace(db, each);
  }
  for (const some of chunksOf(addedMemories, ROWS_AT_ONCE)) {
    await pause();
    const added = addMemories.now(db, some);
    noteAdded(
      db,
      added.map(({ row_id }) => row_id),
    );
  }
}

function replace(
  db: Db,
  { before: { row_id: rowId, created_at }, after }: DerivedRows["replacedMemories"][number],
): void {
  if (!after) {
    dropMemory.now(db, { rowId });
    return;
  }
  const { value, updatedAt, createdAt, entryIds } = after;
  updateMemory.now(db, { value, updatedAt, entryIds, rowId });
  // Names a column only if it changes, because a named column is written to its index in any case.
  if (created_at !== createdAt) moveMemory.now(db, { createdAt, rowId });
}

const addMemories = compiledForMany((db: Db, rows: readonly NewMemory[]) =>
  db
    .insertInto("memories")
    .values(
      rows.map((row) => ({
        document_id: row.documentId,
        key: row.key,
        memory_id: row.memoryId,
        value: row.value,
        created_at: row.createdAt,
        updated_at: row.updatedAt,
        entry_ids: row.entryIds,
      })),
    )
    .returning("row_id"),
);

const updateMemory = compiled(
  (db: Db, given: Pick<NewMemory, "value" | "updatedAt" | "entryIds"> & { rowId: number }) =>
    db
      .updateTable("memories")
      .set({ value: given.value, updated_at: given.updatedAt, entry_ids: given.entryIds })
      .where("row_id", "=", given.rowId),
);

const moveMemory = compiled(
  (db: Db, { createdAt, rowId }: { readonly createdAt: number; readonly rowId: number }) =>
    db.updateTable("memories").set({ created_at: createdAt }).where("row_id", "=", rowId),
);

const dropMemory = compiled((db: Db, { rowId }: { readonly rowId: number }) =>
  db.deleteFrom("memories").where("row_id", "=", rowId),
);

const putMetadata = compiled(
  (db: Db, given: { readonly documentId: number; readonly key: string; readonly value: string }) =>
    db
      .insertInto("metadata")
      .values({ document_id: given.documentId, key: given.key, value: given.value })
      .onConflict((conflict) =>
        conflict
          .columns(["document_id", "key"])
          .doUpdateSet((excluded) => ({ value: excluded.ref("excluded.value") })),
      ),
);

const dropMetadata = compiled(
  (db: Db, { documentId, key }: { readonly documentId: number; readonly key: string }) =>
    db.deleteFrom("metadata").where("document_id", "=", documentId).where("key", "=", key),
);

const putText = compiled(
  (
    db: Db,
    given: {
      readonly documentId: number;
      readonly content: string;
      readonly updatedAt: number;
      readonly machine: string | null;
    },
  ) =>
    db
      .insertInto("texts")
      .values({
        document_id: given.documentId,
        content: given.content,
        updated_at: given.updatedAt,
        machine: given.machine,
      })
      .onConflict((conflict) =>
        conflict.column("document_id").doUpdateSet((excluded) => ({
          content: excluded.ref("excluded.content"),
          updated_at: excluded.ref("excluded.updated_at"),
          machine: excluded.ref("excluded.machine"),
        })),
      ),
);
