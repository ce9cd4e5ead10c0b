import { type Kysely, sql } from "kysely";
import { compiled } from "../../sqlite/compiled.ts";
import { isPostgres, noLimit } from "../../sqlite/dialects.ts";
import { compiledForMany } from "../../sqlite/many.ts";
import { CorruptDocumentError } from "../log/corrupt-document-error.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { type PastValue, type RevisionPack, unpackRevisions } from "./revision-pack.ts";

type Db = Kysely<ReplicaTables>;

/** How much history is kept. Decided only here. */
export const HISTORY = {
  /** Revisions of a memory's key, and of a project's text. */
  revisionsPerKey: 100,
  /** Conflicts of a project's text. */
  conflictsPerDocument: 100,
  /** Age since a revision was replaced, or a conflict found. */
  ageMs: 90 * 24 * 60 * 60 * 1000,
} as const;

/** A value that was replaced or deleted. Times are milliseconds since the Unix epoch. */
export interface Revision extends PastValue {
  readonly kind: "memory" | "text" | "save";
  /** The memory's key; empty for a text and for a save of one. */
  readonly key: string;
}

export type HistoryName = Pick<Revision, "kind" | "key">;

/** The keys that will have more revisions than are kept, once `added` are stored. */
export async function crowdedKeys(
  db: Db,
  documentId: number,
  added: readonly HistoryName[],
): Promise<HistoryName[]> {
  const crowded: HistoryName[] = [];
  for (const kind of new Set(added.map((each) => each.kind))) {
    const counts = new Map<string, number>();
    for (const each of added) {
      if (each.kind === kind) counts.set(each.key, (counts.get(each.key) ?? 0) + 1);
    }
    const asked = [...counts.keys()].map((key) => ({ documentId, kind, key }));
    for (const { key, count } of await countRevisions(db, asked)) {
      const total = count + (counts.get(key) ?? 0);
      if (total > HISTORY.revisionsPerKey) crowded.push({ kind, key });
    }
  }
  return crowded;
}

/** Deletes the oldest revisions of each key beyond `HISTORY.revisionsPerKey`. */
export function dropCrowded(db: Db, documentId: number, names: readonly HistoryName[]): void {
  const kept = HISTORY.revisionsPerKey;
  for (const { kind, key } of names) dropOldest.now(db, { documentId, kind, key, kept });
}

/**
 * The kept revisions of a key, newest first, at most `HISTORY.revisionsPerKey`. Throws
 * `CorruptDocumentError` for a damaged pack.
 */
export async function listRevisions(
  db: Db,
  documentId: number,
  { kind, key }: { readonly kind: Revision["kind"]; readonly key: string },
): Promise<Revision[]> {
  const found: Revision[] = [];
  for (const row of await stored(db, documentId, { kind, key }).execute()) {
    if (found.length >= HISTORY.revisionsPerKey) break;
    found.push(...pastValues(documentId, row).map((each) => ({ kind, key, ...each })));
  }
  return found.slice(0, HISTORY.revisionsPerKey);
}

/**
 * A key's rows and packs, newest first, read by one statement, because another process's sweep may
 * pack rows meanwhile. Packed revisions are older than all others, and later packs are newer.
 */
function stored(db: Db, documentId: number, { kind, key }: HistoryName) {
  return db
    .selectFrom("revisions")
    .select(["id", "value", "written_at", "replaced_at", "machine"])
    .select([
      sql<number | null>`null`.as("count"),
      sql<number | null>`null`.as("bytes"),
      sql<Uint8Array | null>`null`.as("payload"),
      sql<number | null>`null`.as("checksum"),
      sql<number>`0`.as("is_packed"),
    ])
    .where("document_id", "=", documentId)
    .where("kind", "=", kind)
    .where("key", "=", key)
    .unionAll(
      db
        .selectFrom("revision_packs")
        .select([
          "id",
          sql<string>`null`.as("value"),
          sql<number>`null`.as("written_at"),
          sql<number>`null`.as("replaced_at"),
          sql<string | null>`null`.as("machine"),
        ])
        .select(["count", "bytes", "payload", "checksum", sql<number>`1`.as("is_packed")])
        .where("document_id", "=", documentId)
        .where("kind", "=", kind)
        .where("key", "=", key),
    )
    .$if(!isPostgres(db), (query) => query.unionAll(unfiled(db, documentId, { kind, key })))
    .orderBy("is_packed")
    .orderBy("id", "desc");
}

/** Newer than all others of its key. */
function unfiled(db: Db, documentId: number, { kind, key }: HistoryName) {
  return db
    .selectFrom("unfiled")
    .select(["id", "value", "written_at", "replaced_at", "machine"])
    .select([
      sql<number | null>`null`.as("count"),
      sql<number | null>`null`.as("bytes"),
      sql<Uint8Array | null>`null`.as("payload"),
      sql<number | null>`null`.as("checksum"),
      sql<number>`-1`.as("is_packed"),
    ])
    .where("document_id", "=", documentId)
    .where("kind", "=", kind)
    .where("key", "=", key);
}

type Stored = Awaited<ReturnType<ReturnType<typeof stored>["execute"]>>[number];

function pastValues(documentId: number, row: Stored): PastValue[] {
  const { count, bytes, payload, checksum } = row;
  if (count !== null && bytes !== null && payload !== null && checksum !== null) {
    return readPack(documentId, { count, bytes, payload, checksum });
  }
  const { value, written_at: writtenAt, replaced_at: replacedAt, machine } = row;
  return [{ value, writtenAt, replacedAt, machine: machine ?? undefined }];
}

/** The revisions of a stored pack, newest first. Throws `CorruptDocumentError`. */
export function readPack(documentId: number, pack: RevisionPack): PastValue[] {
  try {
    return unpackRevisions(pack);
  } catch (thrown) {
    const message = `document ${documentId} is damaged in its history`;
    throw new CorruptDocumentError(message, { cause: thrown });
  }
}

/**
 * Counted before the write, because most keys have few. One statement for each key is the cheapest
 * way: with grouping it takes three times as long.
 */
const countRevisions = compiledForMany(
  (db: Db, rows: readonly (HistoryName & { readonly documentId: number })[]) =>
    db
      .selectFrom("revisions")
      .select(["key", (select) => select.fn.countAll<number>().as("count")])
      .where("document_id", "=", rows[0]?.documentId ?? 0)
      .where("kind", "=", rows[0]?.kind ?? "memory")
      .where(
        "key",
        "in",
        rows.map(({ key }) => key),
      )
      .$if(rows.length > 1 || isPostgres(db), (query) => query.groupBy("key")),
);

const dropOldest = compiled(
  (db: Db, given: HistoryName & { readonly documentId: number; readonly kept: number }) =>
    db
      .deleteFrom("revisions")
      .where("id", "in", (select) =>
        select
          .selectFrom("revisions")
          .select("id")
          .where("document_id", "=", given.documentId)
          .where("kind", "=", given.kind)
          .where("key", "=", given.key)
          .orderBy("id", "desc")
          .limit(noLimit(db))
          .offset(given.kept),
      ),
);
