import type { InTransaction } from "../../postgres/migrate.ts";
import type { Statements } from "../../postgres/session.ts";
import { spacedWords } from "../search/words.ts";

/** How many memories one transaction reads and writes. */
const ROWS_AT_ONCE = 200;

interface StoredMemory {
  readonly row_id: number;
  readonly key: string;
  readonly value: string;
}

/** Gives each memory its words by the present rules. */
export async function rewriteWords(inTransaction: InTransaction): Promise<void> {
  let last: number | undefined = 0;
  while (last !== undefined) {
    const after: number = last;
    last = await inTransaction((session) => rewriteSome(session, after));
  }
}

/** The last row of these; undefined if there was none. */
async function rewriteSome(session: Statements, after: number): Promise<number | undefined> {
  const rows = await session.query<StoredMemory>(
    "SELECT row_id, key, value FROM memories WHERE row_id > $1 ORDER BY row_id LIMIT $2",
    [after, ROWS_AT_ONCE],
  );
  // Who has written a memory since has given it its words.
  await session.change(
    `UPDATE memories SET key_words = given.key_words, value_words = given.value_words
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
      AS given (row_id, value, key_words, value_words)
    WHERE memories.row_id = given.row_id AND memories.value = given.value`,
    [
      rows.map((row) => row.row_id),
      rows.map(({ value }) => value),
      rows.map(({ key }) => spacedWords(key)),
      rows.map(({ value }) => spacedWords(value)),
    ],
  );
  return rows.at(-1)?.row_id;
}
