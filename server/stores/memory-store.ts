import { type Kysely, sql } from "kysely";
import { assert } from "../../shared/errors.ts";
import type { AccountId, MemoryId } from "../../shared/ids.ts";
import { layerOf, projectOf } from "../../shared/replica/document/address.ts";
import { fullTextQuery, RANK } from "../../shared/replica/search/full-text.ts";
import type { SearchFound } from "../../shared/replica/store/replica.ts";
import { type Compiled, compilable, compiled } from "../../shared/sqlite/compiled.ts";
import { isPostgres, noLimit } from "../../shared/sqlite/dialects.ts";
import type { Pause } from "../../shared/turns.ts";
import { LAYERS } from "../../shared/wire/layer.ts";
import type { Memory } from "../../shared/wire/memory.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import type { PageEnd } from "./cursor.ts";
import type { MemoryColumns, MemoryFilter } from "./memory-rows.ts";
import type { ServiceTables } from "./tables.ts";

type Db = Kysely<ServiceTables>;

/** The winning value of a key, from its row. Times are milliseconds since the Unix epoch. */
export interface MemoryRow {
  /** Grows with each new memory. */
  readonly rowId: number;
  readonly documentName: string;
  readonly memoryId: MemoryId;
  readonly key: string;
  readonly value: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

function memories(db: Db, { account, documents }: MemoryFilter) {
  return db
    .selectFrom("memories")
    .innerJoin("documents", "documents.id", "memories.document_id")
    .where("documents.owner", "=", account)
    .where("documents.name", "in", [...documents]);
}

const COLUMNS = [
  "memories.row_id",
  "documents.name",
  "memories.memory_id",
  "memories.key",
  "memories.value",
  "memories.created_at",
  "memories.updated_at",
] as const;

/** Where the first page begins. */
const START: PageEnd = { sort: -1, id: "0" };

/** Oldest first, after `from`; all of them if `limit` is undefined. */
export async function listMemories(
  db: Db,
  { account, documents }: MemoryFilter,
  {
    from = START,
    limit = noLimit(db),
  }: { readonly from: PageEnd | undefined; readonly limit: number | undefined },
): Promise<MemoryRow[]> {
  if (documents.length === 0) return [];
  const names = Object.fromEntries(documents.map((name, at) => [`name${at}`, name]));
  const after = { time: from.sort, rowId: Number(from.id) };
  const rows = await pageQuery(documents.length)(db, { account, ...names, ...after, limit });
  return rows.map(toMemoryRow);
}

/** Rows that are read in a fraction of a turn. */
export const LISTED_AT_ONCE = 512;

/**
 * All of a list after `from`, in parts between which the turn may end. Nobody may write meanwhile.
 */
export async function listAllMemories(
  db: Db,
  filter: MemoryFilter,
  { from, pause }: { readonly from?: PageEnd | undefined; readonly pause: Pause },
): Promise<MemoryRow[]> {
  const rows: MemoryRow[] = [];
  for (;;) {
    const last = rows.at(-1);
    const after = last ? { sort: last.createdAt, id: String(last.rowId) } : from;
    const part = await listMemories(db, filter, { from: after, limit: LISTED_AT_ONCE });
    rows.push(...part);
    if (part.length < LISTED_AT_ONCE) return rows;
    await pause();
  }
}

type PageValues = {
  readonly account: AccountId;
  readonly time: number;
  readonly rowId: number;
  readonly limit: number;
} & { readonly [name in `name${number}`]: string };

const pageQueries = new Map<number, Compiled<ServiceTables, PageValues, MemoryColumns>>();

/**
 * Each document's memories are in order in an index, so that a page reads no others. SQLite merges
 * those of several documents; PostgreSQL may sort them, and so has a page of each.
 */
function pageQuery(documents: number): Compiled<ServiceTables, PageValues, MemoryColumns> {
  const known = pageQueries.get(documents);
  if (known) return known;
  const fresh = compiled((db: Db, given: PageValues) => {
    const ofEach = Array.from({ length: documents }, (_, at) => {
      const name = given[`name${at}`];
      const ofOne = sql`select row_id, cast(${name} as text) as name, memory_id, key, value,
          created_at, updated_at
        from memories
        where document_id =
            (select id from documents where owner = ${given.account} and name = ${name})
          and (created_at, row_id) > (${given.time}, ${given.rowId})`;
      return isPostgres(db) && documents > 1
        ? sql`(${ofOne} order by created_at, row_id limit ${given.limit})`
        : ofOne;
    });
    const all = sql.join(ofEach, sql` union all `);
    return compilable(
      db,
      sql<MemoryColumns>`${all} order by created_at, row_id limit ${given.limit}`,
    );
  });
  pageQueries.set(documents, fresh);
  return fresh;
}

/** How many memories there are, on all pages; conflicts of a key are not counted. */
export async function countMemories(db: Db, { account, documents }: MemoryFilter): Promise<number> {
  assert(documents.length <= LAYERS.length, "memories are counted in a document of each layer");
  const [one = "", two = "", three = ""] = documents;
  const [counted] = await countIn(db, { account, one, two, three });
  return Number(counted?.count ?? 0);
}

/** No document has an empty name. */
const countIn = compiled(
  (
    db: Db,
    given: {
      readonly account: AccountId;
      readonly one: string;
      readonly two: string;
      readonly three: string;
    },
  ) =>
    memories(db, { account: given.account, documents: [given.one, given.two, given.three] }).select(
      (select) => select.fn.countAll<number>().as("count"),
    ),
);

/**
 * Full-text search in keys and values, best match first, then by id; see
 * `fullTextQuery`. The total counts all matches. `from`: how many were returned so far, and the
 * last one's id. A rank depends on the whole index and changes with every write, so the search
 * continues after that memory's current rank; or, if it is gone, after that many matches.
 */
export async function searchMemories(
  db: Db,
  filter: MemoryFilter,
  {
    text,
    from,
    limit,
  }: {
    readonly text: string;
    readonly from: PageEnd | undefined;
    readonly limit: number | undefined;
  },
): Promise<SearchFound & { readonly rows: MemoryRow[]; readonly total: number }> {
  if (filter.documents.length === 0) return { rows: [], total: 0 };
  if (isPostgres(db)) {
    const { searchOnPostgres } = await import("./search-on-postgres.ts");
    const asked = { text, from, limit, offset: givenBefore(from) };
    const onPostgres = await searchOnPostgres(db, filter, asked);
    return { ...onPostgres, rows: onPostgres.rows.map(toMemoryRow) };
  }
  const query = fullTextQuery(text);
  if (query === undefined) return { rows: [], total: 0 };
  const found = sql`
    from memories_text
    join memories on memories.row_id = memories_text.rowid
    join documents on documents.id = memories.document_id
    where memories_text match ${query}
      and documents.owner = ${filter.account}
      and documents.name in (${sql.join([...filter.documents])})`;
  const { rows } = await sql<MemoryColumns>`
    with found as materialized (
        select memories.row_id, memories.memory_id, ${RANK} as rank ${found}),
      last as (select rank, memory_id from found where memory_id = ${from?.id ?? ""})
    select documents.name, memories.row_id, memories.memory_id, memories.key, memories.value,
      memories.created_at, memories.updated_at
    from found
    join memories on memories.row_id = found.row_id
    join documents on documents.id = memories.document_id
    where not exists (select 1 from last)
      or (found.rank, found.memory_id) > (select rank, memory_id from last)
    order by found.rank, found.memory_id
    limit ${limit ?? -1}
    offset case when exists (select 1 from last) then 0 else ${givenBefore(from)} end`.execute(db);
  const count = await sql<{ total: number }>`select count(*) as total ${found}`.execute(db);
  return { rows: rows.map(toMemoryRow), total: Number(count.rows[0]?.total ?? 0) };
}

/** More than any search finds. A cursor may contain any number. */
const OFFSET_MAX = 2 ** 31;

/** How many of the returned ones are left if the last one is gone. */
function givenBefore(from: PageEnd | undefined): number {
  return Math.trunc(Math.min(Math.max(1, from?.sort ?? 1), OFFSET_MAX)) - 1;
}

/**
 * In the order of their documents' names: a key has the same id in every user's `user` document.
 */
export async function findMemoriesById(
  db: Db,
  account: AccountId,
  id: MemoryId,
): Promise<MemoryRow[]> {
  return (await findById(db, { account, id })).map(toMemoryRow);
}

const findById = compiled(
  (db: Db, { account, id }: { readonly account: AccountId; readonly id: MemoryId }) =>
    db
      .selectFrom("memories")
      .innerJoin("documents", "documents.id", "memories.document_id")
      .select(COLUMNS)
      .where("documents.owner", "=", account)
      .where("memories.memory_id", "=", id)
      .orderBy("documents.name"),
);

/** A memory as variant A shows it. */
export function toMemory(row: MemoryRow): Memory {
  return {
    id: row.memoryId,
    content: row.value,
    layer: layerOf(row.documentName),
    created_at: timestampOf(row.createdAt),
    project_id: projectOf(row.documentName) ?? null,
    key: row.key,
    updated_at: timestampOf(row.updatedAt),
  };
}

function toMemoryRow(row: MemoryColumns): MemoryRow {
  return {
    documentName: row.name,
    rowId: row.row_id,
    memoryId: row.memory_id,
    key: row.key,
    value: row.value,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
