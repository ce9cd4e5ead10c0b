import { type Kysely, sql } from "kysely";
import type { ReplicaTables } from "./tables.ts";

type Db = Kysely<ReplicaTables>;

/** Pages of the index that one step writes. */
const PAGES_AT_ONCE = 250;

/**
 * One step towards a full-text index without what was overwritten, which takes a multiple of its
 * room; `first` begins (https://www.sqlite.org/fts5.html#the_merge_command). False: there is
 * nothing left to do. Belongs in a transaction of its own.
 */
export async function mergeFullText(db: Db, first: boolean): Promise<boolean> {
  const before = await totalChanges(db);
  const pages = first ? -PAGES_AT_ONCE : PAGES_AT_ONCE;
  await sql`insert into memories_text (memories_text, rank) values ('merge', ${pages})`.execute(db);
  // As its documentation says: fewer than two changes are the command's own.
  return (await totalChanges(db)) - before >= 2;
}

async function totalChanges(db: Db): Promise<number> {
  const { rows } = await sql<{ total: number }>`select total_changes() as total`.execute(db);
  return rows[0]?.total ?? 0;
}

/**
 * An FTS5 query that matches what holds every word of `text`. Each word is quoted, so that nothing
 * in it is taken for query syntax (https://www.sqlite.org/fts5.html#fts5_strings). Undefined when
 * there is no word.
 */
export function fullTextQuery(text: string): string | undefined {
  const words = text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (words.length === 0) return undefined;
  return words.map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
}
