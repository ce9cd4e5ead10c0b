import { type Kysely, sql } from "kysely";
import { compilable, compiled } from "../../sqlite/compiled.ts";
import type { Pause } from "../../turns.ts";
import type { ReplicaTables } from "../log/tables.ts";
import { type SearchTerm, spacedWords, termsOf } from "./words.ts";

type Db = Kysely<ReplicaTables>;

/** Indexing so many rows takes a fraction of a millisecond. */
const ROWS_BETWEEN_PAUSES = 32;

/** How many pages of the index one step writes. */
const PAGES_AT_ONCE = 250;

/**
 * One step of removing overwritten text from the full-text index, where it takes several times the
 * needed space; `first` begins (https://www.sqlite.org/fts5.html#the_merge_command). False: nothing
 * is left to do. To be called in a transaction of its own.
 */
export async function mergeFullText(db: Db, first: boolean): Promise<boolean> {
  const before = await totalChanges(db);
  const pages = first ? -PAGES_AT_ONCE : PAGES_AT_ONCE;
  await sql`insert into memories_text (memories_text, rank) values ('merge', ${pages})`.execute(db);
  // According to its documentation, fewer than two changes are those of the command itself: nothing
  // was left to do.
  return (await totalChanges(db)) - before >= 2;
}

async function totalChanges(db: Db): Promise<number> {
  const { rows } = await sql<{ total: number }>`select total_changes() as total`.execute(db);
  return rows[0]?.total ?? 0;
}

/** The parts of a memory whose words the index contains. */
export interface IndexedText {
  readonly key: string;
  readonly value: string;
}

/** The change of one row of memories; undefined for a row that was not there, or is no longer. */
interface RowChange {
  readonly rowId: number;
  readonly before: IndexedText | undefined;
  readonly after: IndexedText | undefined;
}

/**
 * Applies changes of memories to the full-text index, one for each row and in the order of their
 * ids. To be called outside of any savepoint: FTS5 writes a segment whenever a savepoint or an
 * undoable statement begins, and whenever row ids decrease. One call for each memory would write
 * that many segments, which have to be merged later. `pause` may end the turn.
 */
export async function changeIndex(
  db: Db,
  changes: readonly RowChange[],
  pause: Pause,
): Promise<void> {
  for (const [at, { rowId, before, after }] of changes.entries()) {
    if (at % ROWS_BETWEEN_PAUSES === 0) await pause();
    if (before?.key === after?.key && before?.value === after?.value) continue;
    if (before) forgetText.now(db, { rowId, ...asIndexed(before) });
    if (after) addText.now(db, { rowId, ...asIndexed(after) });
  }
}

/** A text as the index has it. */
export function asIndexed({ key, value }: IndexedText): IndexedText {
  return { key: spacedWords(key), value: spacedWords(value) };
}

/**
 * FTS5 has to be told what it contains of a row
 * (https://www.sqlite.org/fts5.html#the_delete_command).
 */
const forgetText = compiled(
  (
    db: Db,
    { rowId, key, value }: { readonly rowId: number; readonly key: string; readonly value: string },
  ) =>
    compilable(
      db,
      sql`insert into memories_text (memories_text, rowid, key, value)
      values ('delete', ${rowId}, ${key}, ${value})`,
    ),
);

const addText = compiled(
  (
    db: Db,
    { rowId, key, value }: { readonly rowId: number; readonly key: string; readonly value: string },
  ) =>
    compilable(
      db,
      sql`insert into memories_text (rowid, key, value) values (${rowId}, ${key}, ${value})`,
    ),
);

/**
 * How a text of `asIndexed` becomes words again: at its spaces, and with each letter as it is
 * (https://www.sqlite.org/fts5.html#ascii_tokenizer).
 */
export const TOKENIZER = "ascii";

/** A lower rank is better. A word in the key says more about a memory than one in its value. */
export const RANK = sql<number>`bm25(memories_text, 4.0, 1.0)`;

/**
 * An FTS5 query for texts that contain every word of `text`, or with `some` for those that contain
 * any. A word also stands for those that begin with it; the word itself counts twice in the rank.
 * Each is quoted, so that none counts as query syntax
 * (https://www.sqlite.org/fts5.html#fts5_strings). Undefined if there is no word.
 *
 * ```
 * fullTextQuery("use v2"); // '("use" OR "use" *) AND ("v 2" OR "v 2" *)'
 * ```
 */
export function fullTextQuery(text: string, wanted: "every" | "some" = "every") {
  const terms = termsOf(text);
  if (terms.length === 0) return undefined;
  return terms.map(inFts5).join(wanted === "every" ? " AND " : " OR ");
}

function inFts5({ phrase, isPrefixToo }: SearchTerm): string {
  const quoted = `"${phrase.trim()}"`;
  return isPrefixToo ? `(${quoted} OR ${quoted} *)` : quoted;
}
