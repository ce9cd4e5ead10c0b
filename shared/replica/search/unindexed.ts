import { type Kysely, sql } from "kysely";
import type { AccountId, MemoryId } from "../../ids.ts";
import { compilable, compiled } from "../../sqlite/compiled.ts";
import { isPostgres } from "../../sqlite/dialects.ts";
import { compiledForMany } from "../../sqlite/many.ts";
import type { Pause } from "../../turns.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { changeIndex } from "./full-text.ts";

type Db = Kysely<ReplicaTables>;

/** At most this many rows are indexed by one step: other writes wait some milliseconds for it. */
const ROWS_AT_ONCE = 256;

/**
 * To be called before rows of memories change or go: keeps what the full-text index has of them,
 * for `indexSome`. In the write transaction of the change.
 */
export function keepIndexed(db: Db, rowIds: readonly number[]): void {
  keep.now(
    db,
    rowIds.map((rowId) => ({ rowId })),
  );
}

/**
 * Notes rows that have come, of which the index has nothing yet. In the write transaction of the
 * change.
 */
export function noteAdded(db: Db, rowIds: readonly number[]): void {
  note.now(
    db,
    rowIds.map((rowId) => ({ rowId })),
  );
}

/**
 * A row id may pass to another memory before the index has heard that the former one is gone. The
 * index then still has the former one's text, so the note of that stays.
 */
const ONCE = sql`on conflict (row_id) do update set document_id = excluded.document_id`;

/** `keepIndexed` of all memories of a document; on PostgreSQL its rows have their own words. */
export async function keepIndexedOf(db: Db, documentId: number): Promise<void> {
  if (isPostgres(db)) return;
  await keepAll(db, { documentId });
}

/** `noteAdded` of all memories of a document. */
export async function noteAddedOf(db: Db, documentId: number): Promise<void> {
  await noteAll(db, { documentId });
}

const keep = compiledForMany((db: Db, rows: readonly { readonly rowId: number }[]) =>
  compilable(
    db,
    sql`insert into unindexed (row_id, document_id, key, value)
      select row_id, document_id, key, value from memories
      where row_id in (${sql.join(rows.map(({ rowId }) => rowId))}) ${ONCE}`,
  ),
);

const note = compiledForMany((db: Db, rows: readonly { readonly rowId: number }[]) =>
  compilable(
    db,
    sql`insert into unindexed (row_id, document_id)
      select row_id, document_id from memories
      where row_id in (${sql.join(rows.map(({ rowId }) => rowId))}) ${ONCE}`,
  ),
);

const keepAll = compiled((db: Db, { documentId }: { readonly documentId: number }) =>
  compilable(
    db,
    sql`insert into unindexed (row_id, document_id, key, value)
      select row_id, document_id, key, value from memories
      where document_id = ${documentId} ${ONCE}`,
  ),
);

const noteAll = compiled((db: Db, { documentId }: { readonly documentId: number }) =>
  compilable(
    db,
    sql`insert into unindexed (row_id, document_id)
      select row_id, document_id from memories where document_id = ${documentId} ${ONCE}`,
  ),
);

/** A row of which the index has another text, or none. */
interface Behind {
  readonly row_id: number;
  /** What the index has; null for nothing. */
  readonly was_key: string | null;
  readonly was_value: string | null;
  /** What the row has; null where it is gone. */
  readonly key: string | null;
  readonly value: string | null;
}

/** The owner whose memories are meant; undefined for all. */
interface Owned {
  readonly owner: AccountId | undefined;
}

/**
 * Brings the full-text index up to date with some rows. False: none are left. To be called in a
 * write transaction, outside of any savepoint: FTS5 writes a segment whenever one begins.
 */
export async function indexSome(db: Db, { owner }: Owned, pause: Pause): Promise<boolean> {
  const rows = owner === undefined ? someBehind.now(db, {}) : someBehindOf.now(db, { owner });
  const changes = rows.map(({ row_id: rowId, was_key, was_value, key, value }) => ({
    rowId,
    before: was_key === null ? undefined : { key: was_key, value: was_value ?? "" },
    after: key === null ? undefined : { key, value: value ?? "" },
  }));
  await changeIndex(db, changes, pause);
  if (rows.length > 0) forget.now(db, { rowIds: JSON.stringify(rows.map((row) => row.row_id)) });
  return rows.length === ROWS_AT_ONCE;
}

/** Whether there is anything for `indexSome`. */
export async function isIndexBehind(db: Db, { owner }: Owned): Promise<boolean> {
  const rows = owner === undefined ? await anyBehind(db, {}) : await anyBehindOf(db, { owner });
  return rows.length > 0;
}

/** The step from which on the index has words by the present rules. */
const PRESENT_RULES = "replica-0014-words-of-memories";

/**
 * The ids of a document's memories of which the index has another text, or none. For readers of a
 * database that may not have been written since an update: they search these memories in another
 * way.
 */
export async function unindexedIn(db: Db, documentId: number): Promise<ReadonlySet<MemoryId>> {
  const step = await sql`select 1 from schema_migrations where name = ${PRESENT_RULES}`.execute(db);
  const unindexed = sql`and row_id in (select row_id from unindexed)`;
  const { rows } = await sql<{ memory_id: MemoryId }>`
    select memory_id from memories
    where document_id = ${documentId} ${step.rows.length > 0 ? unindexed : sql``}`.execute(db);
  return new Set(rows.map((row) => row.memory_id));
}

const OF_OWNER = (owner: AccountId) => sql`exists (
  select 1 from documents where documents.id = unindexed.document_id and owner = ${owner})`;

/** In the order of row ids, because FTS5 writes a segment whenever they decrease, too. */
const SOME = sql<Behind>`select unindexed.row_id, unindexed.key as was_key,
    unindexed.value as was_value, memories.key, memories.value
  from unindexed left join memories on memories.row_id = unindexed.row_id`;
const IN_ORDER = sql`order by unindexed.row_id limit ${sql.lit(ROWS_AT_ONCE)}`;

const someBehind = compiled((db: Db, _: object) =>
  compilable(db, sql<Behind>`${SOME} ${IN_ORDER}`),
);

const someBehindOf = compiled((db: Db, { owner }: { readonly owner: AccountId }) =>
  compilable(db, sql<Behind>`${SOME} where ${OF_OWNER(owner)} ${IN_ORDER}`),
);

const anyBehind = compiled((db: Db, _: object) =>
  compilable(db, sql`select 1 from unindexed limit 1`),
);

const anyBehindOf = compiled((db: Db, { owner }: { readonly owner: AccountId }) =>
  compilable(db, sql`select 1 from unindexed where ${OF_OWNER(owner)} limit 1`),
);

const forget = compiled((db: Db, { rowIds }: { readonly rowIds: string }) =>
  compilable(
    db,
    sql`delete from unindexed where row_id in (select value from json_each(${rowIds}))`,
  ),
);
