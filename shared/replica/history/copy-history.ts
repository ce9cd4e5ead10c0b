import type { Kysely } from "kysely";
import type { ReplicaTables } from "../log/tables.ts";
import { mendBeforeCopy, notePacked } from "./history-clock.ts";
import { HISTORY, listRevisions, type Revision } from "./revisions.ts";
import { addUnfiled, fileAll } from "./unfiled.ts";

type Db = Kysely<ReplicaTables>;

/** Whose histories are copied, and where to, by the documents' numbers. */
interface HistoryCopy {
  readonly from: number;
  readonly to: number;
  readonly now: number;
}

/** Whether a document has a history of any memory, perhaps of one that is deleted. */
export async function hasMemoryHistory(db: Db, documentId: number): Promise<boolean> {
  return (await keysWithHistory(db, documentId)).length > 0;
}

/**
 * Copies the histories of a document's memories, also of deleted ones, to another document of this
 * database. What is there already is not copied again. `stands`: a memory of the other document has
 * that value, written at that time. Throws `CorruptDocumentError` for a damaged history.
 */
export async function copyMemoryHistory(
  db: Db,
  { from, to, now }: HistoryCopy,
  stands: (revision: Revision) => boolean,
): Promise<void> {
  // Of this transaction some may not be among those of their keys yet.
  fileAll(db);
  await mendBeforeCopy(db, now);
  for (const key of await keysWithHistory(db, from)) {
    const name = { kind: "memory", key } as const;
    const there = await listRevisions(db, to, name);
    const known = new Set(there.map(nameOf));
    const copied = (await listRevisions(db, from, name)).filter((each) => {
      return !known.has(nameOf(each)) && !stands(each);
    });
    if (copied.length === 0) continue;
    // Rows are read in the order of their numbers, so those that were there are numbered anew.
    for (const table of ["revisions", "revision_packs"] as const) {
      await db
        .deleteFrom(table)
        .where("document_id", "=", to)
        .where("kind", "=", "memory")
        .where("key", "=", key)
        .execute();
    }
    // Those that were replaced at the same time stay in their order.
    const oldest = [...there.toReversed(), ...copied.toReversed()];
    const all = oldest.sort((one, other) => one.replacedAt - other.replacedAt);
    addUnfiled(db, to, all.slice(-HISTORY.revisionsPerKey));
  }
  fileAll(db);
  await notePacked(db);
}

/** The same write has the same time wherever it is kept. */
function nameOf({ value, writtenAt }: Revision): string {
  return `${writtenAt} ${value}`;
}

async function keysWithHistory(db: Db, documentId: number): Promise<string[]> {
  const keys = new Set<string>();
  for (const table of ["revisions", "revision_packs"] as const) {
    const rows = await db
      .selectFrom(table)
      .select("key")
      .distinct()
      .where("document_id", "=", documentId)
      .where("kind", "=", "memory")
      .execute();
    for (const { key } of rows) keys.add(key);
  }
  return [...keys];
}
