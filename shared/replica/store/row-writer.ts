import { type Kysely, sql } from "kysely";
import { compilable, compiled } from "../../sqlite/compiled.ts";
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
    replaceMemories(db, some);
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

function replaceMemories(db: Db, replaced: DerivedRows["replacedMemories"]): void {
  const changed = replaced.flatMap(({ before, after }) => {
    if (!after) return [];
    const { value, updatedAt, entryIds } = after;
    return [{ rowId: before.row_id, value, updatedAt, entryIds }];
  });
  updateMemories.now(db, changed);
  for (const { before, after } of replaced) {
    const { row_id: rowId } = before;
    if (!after) dropMemory.now(db, { rowId });
    // Names a column only if it changes, for a named column is written to its index in any case.
    else if (before.created_at !== after.createdAt) {
      moveMemory.now(db, { createdAt: after.createdAt, rowId });
    }
  }
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

type UpdatedMemory = Pick<NewMemory, "value" | "updatedAt" | "entryIds"> & {
  readonly rowId: number;
};

/** One row by itself is found without the list of `values`, which takes longer to make. */
const updateMemories = compiledForMany((db: Db, rows: readonly UpdatedMemory[]) => {
  const [only, ...others] = rows;
  if (only && others.length === 0) {
    const { value, updatedAt, entryIds, rowId } = only;
    return compilable(
      db,
      sql`update memories set value = ${value}, updated_at = ${updatedAt}, entry_ids = ${entryIds}
        where row_id = ${rowId}`,
    );
  }
  const given = rows.map(({ rowId, value, updatedAt, entryIds }) => {
    return sql`(${rowId}, ${value}, ${updatedAt}, ${entryIds})`;
  });
  return compilable(
    db,
    sql`update memories set value = given.column2, updated_at = given.column3,
        entry_ids = given.column4
      from (values ${sql.join(given)}) as given where memories.row_id = given.column1`,
  );
});

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
