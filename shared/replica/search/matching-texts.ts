import { Kysely, SqliteDialect, sql } from "kysely";
import { openConnection } from "../../sqlite/database.ts";
import { chunksOf } from "../../turns.ts";
import { asIndexed, type IndexedText, RANK, TOKENIZER } from "./full-text.ts";

/** Each statement makes a part of the index, and few parts are searched faster. */
const TEXTS_AT_ONCE = 256;

/**
 * Which of a few texts a query of `fullTextQuery` matches, best match first. Uses a temporary
 * index, so that texts outside of documents are found by the same rules. `searchedOf`: what the
 * query is to be looked for in, where that is not all of a text.
 */
export async function matchingTexts<Text extends IndexedText>(
  texts: readonly Text[],
  query: string,
  searchedOf: (text: Text) => IndexedText | Promise<IndexedText> = (text) => text,
): Promise<Text[]> {
  if (texts.length === 0) return [];
  const database = await openConnection(":memory:", false);
  const index = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) });
  try {
    await sql`create virtual table memories_text using fts5(
      key, value, tokenize=${sql.lit(TOKENIZER)})`.execute(index);
    for (const [chunk, some] of chunksOf(texts, TEXTS_AT_ONCE).entries()) {
      const rows = await Promise.all(some.map((text) => searchedOf(text)));
      const words = JSON.stringify(rows.map(asIndexed));
      const first = chunk * TEXTS_AT_ONCE + 1;
      await sql`insert into memories_text (rowid, key, value)
        select ${first} + key, json_extract(value, '$.key'), json_extract(value, '$.value')
        from json_each(${words})`.execute(index);
    }
    const { rows } = await sql<{ at: number }>`
      select rowid as at from memories_text where memories_text match ${query}
      order by ${RANK}, rowid`.execute(index);
    return rows.flatMap(({ at }) => texts[at - 1] ?? []);
  } finally {
    await index.destroy();
  }
}
