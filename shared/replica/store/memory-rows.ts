import type { Kysely } from "kysely";
import { assert } from "../../errors.ts";
import { type MemoryId, memoryIdOf } from "../../ids.ts";
import { compiled } from "../../sqlite/compiled.ts";
import { chunksOf, type Pause } from "../../turns.ts";
import { wireDocumentId } from "../document/address.ts";
import type { ReplicaDocument } from "../document/document.ts";
import type { ReplicaTables } from "../log/tables.ts";
import type { RowChange } from "../search/full-text.ts";

type Db = Kysely<ReplicaTables>;

/**
 * So many rows are read or added by one statement where there are as many: for one row, most of the
 * time goes into the call.
 */
const ROWS_AT_ONCE = 64;

/** The document whose rows are written, and what may end the turn between two steps. */
interface MemoriesTarget {
  readonly documentId: number;
  readonly name: string;
  readonly pause?: Pause | undefined;
}

/** The row of a memory as it is to be. */
interface MemoryRow {
  readonly documentId: number;
  readonly key: string;
  readonly memoryId: MemoryId;
  readonly value: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly entryIds: string;
}

/** The row of a memory as it was. */
interface FormerRow {
  readonly row_id: number;
  readonly key: string;
  readonly value: string;
  readonly created_at: number;
}

/**
 * Updates the rows of a document's memories to what the document has under `keys`, none of which
 * is named twice. New rows are added in the order of `keys`, which lists go by. Returns what the
 * full-text index needs.
 */
export async function writeMemories(
  db: Db,
  { documentId, name, pause }: MemoriesTarget,
  { document, keys }: { readonly document: ReplicaDocument; readonly keys: readonly string[] },
): Promise<RowChange[]> {
  const changes: RowChange[] = [];
  const added: MemoryRow[] = [];
  for (const some of chunksOf(keys, ROWS_AT_ONCE)) {
    await pause?.();
    const former = findRows(db, documentId, some);
    for (const key of some) {
      const row = rowOf({ documentId, name }, { document, key });
      const replaced = former.get(key);
      if (replaced) changes.push(replace(db, replaced, row));
      else if (row) added.push(row);
    }
  }
  for (const some of chunksOf(added, ROWS_AT_ONCE)) {
    await pause?.();
    changes.push(...add(db, some));
  }
  return changes;
}

function rowOf(
  { documentId, name }: { readonly documentId: number; readonly name: string },
  { document, key }: { readonly document: ReplicaDocument; readonly key: string },
): MemoryRow | undefined {
  const entries = document.memories.get(key);
  const winner = entries[0];
  if (!winner) return undefined;
  return {
    documentId,
    key,
    memoryId: memoryIdOf(wireDocumentId(name), key),
    value: String(winner.value),
    createdAt: winner.created_at,
    updatedAt: winner.updated_at,
    entryIds: JSON.stringify(entries.map(({ id }) => [id.client, id.clock])),
  };
}

/** Without `row` the memory is gone. */
function replace(db: Db, replaced: FormerRow, row: MemoryRow | undefined): RowChange {
  const { row_id: rowId, key } = replaced;
  const before = { key, value: replaced.value };
  if (!row) {
    dropMemory.now(db, { rowId });
    return { rowId, before, after: undefined };
  }
  const { value, updatedAt, createdAt, entryIds } = row;
  updateMemory.now(db, { value, updatedAt, entryIds, rowId });
  // Only if necessary: a column that is named is written to its index even if it does not change.
  if (replaced.created_at !== createdAt) moveMemory.now(db, { createdAt, rowId });
  return { rowId, before, after: { key, value } };
}

function add(db: Db, rows: readonly MemoryRow[]): RowChange[] {
  const added =
    rows.length === ROWS_AT_ONCE
      ? addMemories.now(db, numbered(rows))
      : rows.flatMap((row) => addMemory.now(db, row));
  const ids = new Map(added.map(({ row_id, key }) => [key, row_id]));
  return rows.map(({ key, value }) => {
    const rowId = ids.get(key);
    assert(rowId !== undefined, "a row that was added has an id");
    return { rowId, before: undefined, after: { key, value } };
  });
}

function findRows(
  db: Db,
  documentId: number,
  keys: readonly string[],
): ReadonlyMap<string, FormerRow> {
  const found =
    keys.length === ROWS_AT_ONCE
      ? findMemories.now(db, { documentId, ...numbered(keys.map((key) => ({ key }))) })
      : keys.flatMap((key) => findMemory.now(db, { documentId, key }));
  return new Map(found.map((row) => [row.key, row]));
}

/** The values of `ROWS_AT_ONCE` rows for one statement: `key` of the third one is `key2`. */
type Numbered<Row> = { readonly [name in `${keyof Row & string}${number}`]: Row[keyof Row] };

function numbered<Row extends object>(rows: readonly Row[]): Numbered<Row> {
  const values: Record<string, unknown> = {};
  for (const [at, row] of rows.entries()) {
    for (const [name, value] of Object.entries(row)) values[numberedName(name, at)] = value;
  }
  return values as Numbered<Row>;
}

const PLACES = Array.from({ length: ROWS_AT_ONCE }, (_, at) => at);

const numberedNames = new Map<string, readonly string[]>();

/** Kept, because making a name takes longer than its use. */
function numberedName(name: string, at: number): string {
  const known = numberedNames.get(name) ?? PLACES.map((place) => `${name}${place}`);
  numberedNames.set(name, known);
  return known[at] ?? "";
}

const findMemory = compiled(
  (db: Db, { documentId, key }: { readonly documentId: number; readonly key: string }) =>
    db
      .selectFrom("memories")
      .select(["row_id", "key", "value", "created_at"])
      .where("document_id", "=", documentId)
      .where("key", "=", key),
);

type Keys = { readonly documentId: number } & { readonly [name in `key${number}`]: string };

const findMemories = compiled((db: Db, given: Keys) =>
  db
    .selectFrom("memories")
    .select(["row_id", "key", "value", "created_at"])
    .where("document_id", "=", given.documentId)
    .where(
      "key",
      "in",
      PLACES.map((at) => given[`key${at}`] as string),
    ),
);

const addMemory = compiled((db: Db, given: MemoryRow) =>
  db.insertInto("memories").values(columnsOf(given)).returning(["row_id", "key"]),
);

const addMemories = compiled((db: Db, given: Numbered<MemoryRow>) => {
  const at = (place: number) =>
    new Proxy({}, { get: (_, name) => given[`${String(name)}${place}` as never] }) as MemoryRow;
  return db
    .insertInto("memories")
    .values(PLACES.map((place) => columnsOf(at(place))))
    .returning(["row_id", "key"]);
});

function columnsOf(row: MemoryRow) {
  return {
    document_id: row.documentId,
    key: row.key,
    memory_id: row.memoryId,
    value: row.value,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    entry_ids: row.entryIds,
  };
}

const updateMemory = compiled(
  (
    db: Db,
    given: {
      readonly value: string;
      readonly updatedAt: number;
      readonly entryIds: string;
      readonly rowId: number;
    },
  ) =>
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
