import type { Kysely } from "kysely";
import { compiled } from "../sqlite/compiled.ts";
import type { ReplicaTables } from "./tables.ts";

type Db = Kysely<ReplicaTables>;

/** How much of what was written over is kept: the one place where that is decided. */
export const HISTORY = {
  /** Revisions of a memory's key, and of a project's text. */
  revisionsPerKey: 100,
  /** Conflicts of a project's text. */
  conflictsPerDocument: 100,
  /** Since a revision was written over, or a conflict found. */
  ageMs: 90 * 24 * 60 * 60 * 1000,
} as const;

/** Revisions that one sweep's transaction deletes, so that no write waits long for it. */
const DROPPED_AT_ONCE = 500;

/** A value that was written over or deleted. Times are milliseconds since the Unix epoch. */
export interface Revision {
  readonly kind: "memory" | "text";
  /** The memory's key; empty for a text. */
  readonly key: string;
  readonly value: string;
  readonly writtenAt: number;
  readonly replacedAt: number;
  /** The machine that wrote it; undefined where that is not known. */
  readonly machine: string | undefined;
}

/**
 * Keeps a revision, and drops the oldest of its key beyond `HISTORY.revisionsPerKey`. Belongs in
 * the transaction that writes over the value.
 */
export async function addRevision(db: Db, documentId: number, revision: Revision): Promise<void> {
  const { kind, key, value, writtenAt, replacedAt, machine } = revision;
  await insertRevision(db, documentId, kind, key, value, writtenAt, replacedAt, machine ?? null);
  await dropBeyond(db, documentId, kind, key);
}

/** What is kept of a key, the latest first. */
export async function listRevisions(
  db: Db,
  documentId: number,
  kind: Revision["kind"],
  key: string,
): Promise<Revision[]> {
  const rows = await db
    .selectFrom("revisions")
    .select(["value", "written_at", "replaced_at", "machine"])
    .where("document_id", "=", documentId)
    .where("kind", "=", kind)
    .where("key", "=", key)
    .orderBy("id", "desc")
    .execute();
  return rows.map(({ value, written_at: writtenAt, replaced_at: replacedAt, machine }) => {
    return { kind, key, value, writtenAt, replacedAt, machine: machine ?? undefined };
  });
}

/**
 * Drops some of the revisions that were written over more than `HISTORY.ageMs` before `now`. False:
 * there are none left.
 */
export async function dropAged(db: Db, now: number): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("revisions")
    .where("id", "in", (select) =>
      select
        .selectFrom("revisions")
        .select("id")
        .where("replaced_at", "<", now - HISTORY.ageMs)
        .limit(DROPPED_AT_ONCE),
    )
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

const insertRevision = compiled(
  (
    db: Db,
    documentId: number,
    kind: Revision["kind"],
    key: string,
    value: string,
    writtenAt: number,
    replacedAt: number,
    machine: string | null,
  ) =>
    db.insertInto("revisions").values({
      document_id: documentId,
      kind,
      key,
      value,
      written_at: writtenAt,
      replaced_at: replacedAt,
      machine,
    }),
);

const dropBeyond = compiled((db: Db, documentId: number, kind: Revision["kind"], key: string) =>
  db
    .deleteFrom("revisions")
    .where("document_id", "=", documentId)
    .where("kind", "=", kind)
    .where("key", "=", key)
    .where("id", "<=", (select) =>
      select
        .selectFrom("revisions")
        .select("id")
        .where("document_id", "=", documentId)
        .where("kind", "=", kind)
        .where("key", "=", key)
        .orderBy("id", "desc")
        .offset(HISTORY.revisionsPerKey)
        .limit(1),
    ),
);
