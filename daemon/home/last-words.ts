import type { Kysely } from "kysely";
import * as Y from "yjs";
import { DELETION_KEY } from "../../shared/replica/document/deletion-entry.ts";
import type { StoredEntry } from "../../shared/replica/document/entry-index.ts";
import { JOINED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { findLocalRows } from "./outgoing.ts";
import type { DaemonTables } from "./tables.ts";

type Db = Kysely<DaemonTables>;

/** What a project that no folder is linked to still has to say to other machines. */
export const LAST_WORDS = {
  /** It was deleted. */
  deletion: { from: DELETION_KEY, to: DELETION_KEY },
  /** Its folder was linked to another project. */
  join: { from: JOINED_PREFIX, to: `${JOINED_PREFIX}~` },
} as const;

export type LastWord = keyof typeof LAST_WORDS;

export const ALL_LAST_WORDS: readonly LastWord[] = ["deletion", "join"];

/**
 * The last of this machine's rows after `ackedSeq` that says such a thing; undefined where none
 * does. What another machine said is not this one's to send. Later rows were written while nobody
 * was to have them; earlier ones were waiting when the folder was still linked.
 */
export async function lastWordsSeq(
  db: Db,
  documentId: number,
  { ackedSeq, words }: { readonly ackedSeq: number; readonly words: readonly LastWord[] },
): Promise<number | undefined> {
  const keys = new Set<string>();
  for (const word of words) for (const key of await keysOf(db, documentId, word)) keys.add(key);
  if (keys.size === 0) return undefined;
  const rows = await findLocalRows(db, { documentId, ackedSeq });
  return rows.findLast(({ payload }) => saysAny(payload, keys))?.seq;
}

async function keysOf(db: Db, documentId: number, word: LastWord): Promise<string[]> {
  const { from, to } = LAST_WORDS[word];
  const rows = await db
    .selectFrom("metadata")
    .select("key")
    .where("document_id", "=", documentId)
    .where("key", ">=", from)
    .where("key", "<=", to)
    .execute();
  return rows.map(({ key }) => key);
}

function saysAny(payload: Uint8Array, keys: ReadonlySet<string>): boolean {
  return Y.decodeUpdate(payload).structs.some(
    (item) =>
      item instanceof Y.Item &&
      item.content instanceof Y.ContentAny &&
      item.content.arr.some((stored: Partial<StoredEntry> | undefined) =>
        keys.has(stored?.key ?? ""),
      ),
  );
}
