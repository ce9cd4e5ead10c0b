import { type Kysely, sql } from "kysely";
import { isPostgres } from "../../sqlite/dialects.ts";
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

/** PostgreSQL files each revision as it is written, and has no table of those that are not. */
export const isFiledAtOnce: (db: Db) => boolean = isPostgres;

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
  const name = { kind, key };
  return unpacked(db, "revisions", { documentId, name, isPacked: 0 })
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
    .$if(!isFiledAtOnce(db), (query) =>
      // Newer than all others of its key.
      query.unionAll(unpacked(db, "unfiled", { documentId, name, isPacked: -1 })),
    )
    .orderBy("is_packed")
    .orderBy("id", "desc");
}

interface Unpacked {
  readonly documentId: number;
  readonly name: HistoryName;
  /** By which the rows of several tables are ordered. */
  readonly isPacked: -1 | 0;
}

/** A key's rows in one of the tables whose rows are a revision each. */
function unpacked(
  db: Db,
  table: "revisions" | "unfiled",
  { documentId, name: { kind, key }, isPacked }: Unpacked,
) {
  return db
    .selectFrom(table)
    .select(["id", "value", "written_at", "replaced_at", "machine"])
    .select([
      sql<number | null>`null`.as("count"),
      sql<number | null>`null`.as("bytes"),
      sql<Uint8Array | null>`null`.as("payload"),
      sql<number | null>`null`.as("checksum"),
      sql<number>`${sql.lit(isPacked)}`.as("is_packed"),
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
