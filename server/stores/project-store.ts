import { type ExpressionBuilder, type Kysely, sql } from "kysely";
import type { AccountId, ProjectId } from "../../shared/ids.ts";
import { type JsonObject, type JsonValue, parseJson } from "../../shared/json.ts";
import { getProjectOf } from "../../shared/replica/document/address.ts";
import { DELETION_KEY } from "../../shared/replica/document/deletion-entry.ts";
import { PROJECT_NAME_KEY } from "../../shared/replica/document/document.ts";
import { OWN_METADATA_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { isPublicKey } from "../../shared/replica/store/rows.ts";
import { compiled } from "../../shared/sqlite/compiled.ts";
import { isPostgres } from "../../shared/sqlite/dialects.ts";
import { chunksOf, type Pause } from "../../shared/turns.ts";
import type { PageEnd } from "./cursor.ts";
import type { ServiceTables } from "./tables.ts";

type Db = Kysely<ServiceTables>;

/** A project as its rows say. Times are milliseconds since the Unix epoch. */
export interface ProjectRow {
  readonly documentId: number;
  readonly id: ProjectId;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSyncedAt: number | null;
}

/** The projects that a list or count covers. */
export interface ProjectFilter {
  readonly account: AccountId;
  /** Only these; all of the account's when null. */
  readonly among: readonly ProjectId[] | null;
}

/** The first name that sorts after every project's id. */
const AFTER_PROJECT_IDS = "proj`";

const COLUMNS = ["id", "name", "created_at", "updated_at", "last_synced_at"] as const;

/** The condition that a project's document does not say that it was deleted. */
function isThere({ not, exists, selectFrom }: ExpressionBuilder<ServiceTables, "documents">) {
  const deletion = selectFrom("metadata")
    .select("document_id")
    .whereRef("document_id", "=", "documents.id")
    .where("metadata.key", "=", DELETION_KEY);
  return not(exists(deletion));
}

/** The documents of an account that are projects; those that are deleted are none. */
function projects(db: Db, { account, among }: ProjectFilter) {
  const query = db
    .selectFrom("documents")
    .where("owner", "=", account)
    .where("name", ">=", "proj_")
    .where("name", "<", AFTER_PROJECT_IDS)
    .where(isThere)
    .$if(among !== null, (each) => each.where("name", "in", [...(among ?? [])]));
  return query;
}

/** The account's project, whether or not a token reaches it; undefined when there is none. */
export async function findProject(
  db: Db,
  account: AccountId,
  id: ProjectId,
): Promise<ProjectRow | undefined> {
  const [row] = await findByName(db, { account, id });
  return row && toProject(row);
}

const findByName = compiled(
  (db: Db, { account, id }: { readonly account: AccountId; readonly id: string }) =>
    db
      .selectFrom("documents")
      .select(COLUMNS)
      .where("owner", "=", account)
      .where("name", "=", id)
      .where(isThere),
);

/** Deletes what is kept of a project beside its document; durable with the commit. */
export async function forgetProject(db: Db, account: AccountId, id: ProjectId): Promise<void> {
  for (const table of ["sessions", "current_projects"] as const) {
    await db
      .deleteFrom(table)
      .where("account", "=", account)
      .where("project_id", "=", id)
      .execute();
  }
}

/** Oldest first, from after `from`; `limit` undefined reads all. */
export async function listProjects(
  db: Db,
  filter: ProjectFilter,
  { from, limit }: { readonly from: PageEnd | undefined; readonly limit: number | undefined },
): Promise<ProjectRow[]> {
  const rows = await projects(db, filter)
    .select(COLUMNS)
    .$if(from !== undefined, (query) =>
      query.where((where) =>
        where.or([
          where("created_at", ">", from?.sort ?? 0),
          where.and([
            where("created_at", "=", from?.sort ?? 0),
            where("name", ">", from?.id ?? ""),
          ]),
        ]),
      ),
    )
    .orderBy("created_at")
    .orderBy("name")
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
  return rows.map(toProject);
}

/** How many projects there are, on all pages. */
export async function countProjects(db: Db, filter: ProjectFilter): Promise<number> {
  const { count } = await projects(db, filter)
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The project that the account has synced last. */
export async function findLastSyncedProject(
  db: Db,
  filter: ProjectFilter,
): Promise<ProjectRow | undefined> {
  const { account, among } = filter;
  const [row] =
    among === null ? await findLastSynced(db, { account }) : await lastSynced(db, filter).execute();
  return row && toProject(row);
}

function lastSynced(db: Db, filter: ProjectFilter) {
  return projects(db, filter)
    .select(COLUMNS)
    .where("last_synced_at", "is not", null)
    .orderBy("last_synced_at", "desc")
    .orderBy("name")
    .limit(1);
}

/** Asked by each read that names no project. */
const findLastSynced = compiled((db: Db, { account }: { readonly account: AccountId }) =>
  lastSynced(db, { account, among: null }),
);

/** The syncs of a document that are not counted yet. */
export interface SyncCount {
  readonly count: number;
  /** When the last of them was, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** By document. */
export type SyncCounts = ReadonlyMap<number, SyncCount>;

/**
 * Counts syncs of documents; durable with the commit. Resolves to the documents of which they are
 * counted: on PostgreSQL a row that somebody else has just now is left out, and nobody waited for.
 */
export async function countSyncs(db: Db, counts: SyncCounts): Promise<readonly number[]> {
  if (isPostgres(db)) return await countFree(db, counts);
  for (const [documentId, { count, at }] of counts) await countSync(db, { documentId, count, at });
  return [...counts.keys()];
}

/** The same of one document, whoever has it. */
export const countSync = compiled(
  (db: Db, { documentId, count, at }: SyncCount & { readonly documentId: number }) =>
    db
      .updateTable("documents")
      .set((set) => ({ last_synced_at: at, sync_count: set("sync_count", "+", count) }))
      .where("id", "=", documentId),
);

async function countFree(db: Db, counts: SyncCounts): Promise<readonly number[]> {
  const all = [...counts];
  const { rows } = await sql<{ id: number }>`
    update documents set last_synced_at = free.at, sync_count = sync_count + free.count
    from (select documents.id, given.count, given.at
      from unnest(
        ${all.map(([id]) => id)}::bigint[],
        ${all.map(([, { count }]) => count)}::bigint[],
        ${all.map(([, { at }]) => at)}::bigint[]
      ) as given (id, count, at)
      join documents on documents.id = given.id
      for update of documents skip locked) as free
    where documents.id = free.id returning documents.id`.execute(db);
  return rows.map(({ id }) => id);
}

/** What a document's metadata says to clients. */
export interface ShownMetadata {
  readonly metadata: JsonObject;
  /** The project's name, if it has one. */
  readonly name: string | undefined;
}

/** This many documents' metadata is read in a fraction of a turn. */
const DOCUMENTS_AT_ONCE = 16;

/** Metadata of each document, by its id, without what is the program's own. */
export async function readMetadata(
  db: Db,
  documentIds: readonly number[],
  pause: Pause,
): Promise<Map<number, ShownMetadata>> {
  const shown = new Map<number, ShownMetadata>();
  for (const some of chunksOf(documentIds, DOCUMENTS_AT_ONCE)) {
    await pause();
    for (const id of some) shown.set(id, await readMetadataOf(db, id));
  }
  return shown;
}

async function readMetadataOf(db: Db, documentId: number): Promise<ShownMetadata> {
  const metadata: Record<string, JsonValue> = {};
  let name: string | undefined;
  for (const row of await findMetadata(db, { documentId })) {
    const value = parseJson(row.value);
    if (isPublicKey(row.key)) metadata[row.key] = value;
    else if (typeof value === "string") name = value;
  }
  return { metadata, name };
}

/** The first key that sorts after all of `OWN_METADATA_PREFIX`. */
const AFTER_OWN_METADATA = `${OWN_METADATA_PREFIX.slice(0, -1)}/`;

/** Leaves out the program's own but for the project's name, because conflicts are large. */
const findMetadata = compiled((db: Db, { documentId }: { readonly documentId: number }) =>
  db
    .selectFrom("metadata")
    .select(["key", "value"])
    .where("document_id", "=", documentId)
    .where(({ or, eb }) =>
      or([
        eb("key", "=", PROJECT_NAME_KEY),
        eb("key", "<", OWN_METADATA_PREFIX),
        eb("key", ">=", AFTER_OWN_METADATA),
      ]),
    )
    .orderBy("key"),
);

/** How many memories a document has. */
export async function countMemoriesOf(db: Db, documentId: number): Promise<number> {
  const [row] = await countOf(db, { documentId });
  return Number(row?.count ?? 0);
}

const countOf = compiled((db: Db, { documentId }: { readonly documentId: number }) =>
  db
    .selectFrom("memories")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("document_id", "=", documentId),
);

/** The text as it goes over the wire; empty when none was ever written. */
export async function readText(db: Db, documentId: number): Promise<string> {
  const row = await db
    .selectFrom("texts")
    .select("content")
    .where("document_id", "=", documentId)
    .executeTakeFirst();
  return row?.content ?? "";
}

function toProject(row: {
  id: number;
  name: string;
  created_at: number;
  updated_at: number;
  last_synced_at: number | null;
}): ProjectRow {
  return {
    documentId: row.id,
    id: getProjectOf(row.name),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastSyncedAt: row.last_synced_at,
  };
}
