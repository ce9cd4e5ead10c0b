import { type Kysely, sql } from "kysely";
import { compilable, compiled } from "../../sqlite/compiled.ts";
import { compiledForMany } from "../../sqlite/many.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { HISTORY, type HistoryName, isFiledAtOnce, type Revision } from "./revisions.ts";

type Db = Kysely<ReplicaTables>;

/** One step files at most this many: other writes wait some milliseconds for it. */
const ROWS_AT_ONCE = 256;

/**
 * Keeps revisions, the oldest first, where each is one more row at a table's end: among those of
 * its key it would be a page of its own, of which a long write changes thousands. `fileSome` does
 * that. In the write transaction that replaces the values.
 */
export function addUnfiled(db: Db, documentId: number, revisions: readonly Revision[]): void {
  add.now(
    db,
    revisions.map(({ machine, ...each }) => ({ documentId, ...each, machine: machine ?? null })),
  );
}

/**
 * Files some revisions by their keys, and deletes the oldest of keys that have too many then; those
 * that came first go first, so that each key's stay in order. False: all are filed. To be called in
 * a write transaction.
 */
export function fileSome(db: Db): boolean {
  const [some] = someUnfiled.now(db, {});
  const through = some?.through ?? null;
  if (!some || through === null) return false;
  file.now(db, { through });
  for (const each of crowded.now(db, { through })) dropOldest.now(db, each);
  forget.now(db, { through });
  return some.count === ROWS_AT_ONCE;
}

/** Files all of them. In a write transaction. */
export function fileAll(db: Db): void {
  while (fileSome(db));
}

/** Keeps one revision among those of its key. In a write transaction. */
export function addRevision(db: Db, documentId: number, revision: Revision): void {
  addUnfiled(db, documentId, [revision]);
  fileAll(db);
}

/** Whether there is anything for `fileSome`. */
export async function isAnyUnfiled(db: Db): Promise<boolean> {
  return (await anyUnfiled(db, {})).length > 0;
}

/** Deletes those of a document. */
export async function dropUnfiled(db: Db, documentId: number): Promise<void> {
  if (isFiledAtOnce(db)) return;
  await drop(db, { documentId });
}

const add = compiledForMany(
  (
    db: Db,
    rows: readonly (Omit<Revision, "machine"> & {
      readonly documentId: number;
      readonly machine: string | null;
    })[],
  ) =>
    db.insertInto("unfiled").values(
      rows.map((row) => ({
        document_id: row.documentId,
        kind: row.kind,
        key: row.key,
        value: row.value,
        written_at: row.writtenAt,
        replaced_at: row.replacedAt,
        machine: row.machine,
      })),
    ),
);

const someUnfiled = compiled((db: Db, _: object) =>
  compilable(
    db,
    sql<{ through: number | null; count: number }>`select max(id) as through, count(*) as count
      from (select id from unfiled order by id limit ${sql.lit(ROWS_AT_ONCE)})`,
  ),
);

/** Of a document that is gone nothing is kept. */
const file = compiled((db: Db, { through }: { readonly through: number }) =>
  compilable(
    db,
    sql`insert into revisions
        (document_id, kind, key, value, written_at, replaced_at, machine)
      select document_id, kind, key, value, written_at, replaced_at, machine from unfiled
      where id <= ${through} and exists (
        select 1 from documents where documents.id = unfiled.document_id)
      order by unfiled.id`,
  ),
);

/** Of those that are just being filed. */
const crowded = compiled((db: Db, { through }: { readonly through: number }) =>
  compilable(
    db,
    sql<HistoryName & { readonly document_id: number }>`
      select document_id, kind, key from
        (select distinct document_id, kind, key from unfiled where id <= ${through}) as filed
      where (select count(*) from revisions where revisions.document_id = filed.document_id
        and revisions.kind = filed.kind and revisions.key = filed.key)
        > ${sql.lit(HISTORY.revisionsPerKey)}`,
  ),
);

const dropOldest = compiled((db: Db, given: HistoryName & { readonly document_id: number }) =>
  compilable(
    db,
    sql`delete from revisions where id in (
      select id from revisions where document_id = ${given.document_id}
        and kind = ${given.kind} and key = ${given.key}
      order by id desc limit -1 offset ${sql.lit(HISTORY.revisionsPerKey)})`,
  ),
);

const forget = compiled((db: Db, { through }: { readonly through: number }) =>
  db.deleteFrom("unfiled").where("id", "<=", through),
);

const drop = compiled((db: Db, { documentId }: { readonly documentId: number }) =>
  db.deleteFrom("unfiled").where("document_id", "=", documentId),
);

const anyUnfiled = compiled((db: Db, _: object) =>
  compilable(db, sql`select 1 from unfiled limit 1`),
);
