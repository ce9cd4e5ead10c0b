import { type Kysely, type RawBuilder, sql } from "kysely";
import type { MemoryId } from "../../shared/ids.ts";
import { type SearchTerm, termsOf } from "../../shared/replica/search/words.ts";
import type { SearchFound } from "../../shared/replica/store/replica.ts";
import type { PageEnd } from "./cursor.ts";
import type { MemoryColumns, MemoryFilter } from "./memory-rows.ts";
import type { ServiceTables } from "./tables.ts";

const KEY_WORDS = sql.ref<string>("memories.key_words");
const VALUE_WORDS = sql.ref<string>("memories.value_words");

/** A word in the key says more about a memory than one in its value. */
const KEY_COUNTS = 4;

/**
 * Searches memories by the words that each row has of its own: those that contain every word of
 * `text`, or what begins with it. What a search of a file finds, this finds. Nothing is written,
 * and nobody waits.
 */
export async function searchOnPostgres(
  db: Kysely<ServiceTables>,
  { account, documents }: MemoryFilter,
  {
    text,
    from,
    limit,
    offset,
  }: {
    readonly text: string;
    readonly from: PageEnd | undefined;
    readonly limit: number | undefined;
    readonly offset: number;
  },
): Promise<SearchFound & { readonly rows: readonly MemoryColumns[]; readonly total: number }> {
  const wanted = termsOf(text);
  if (wanted.length === 0) return { rows: [], total: 0 };
  const matches = sql.join(
    wanted.map((each) => sql`(${isIn(KEY_WORDS, each)} or ${isIn(VALUE_WORDS, each)})`),
    sql` and `,
  );
  const rank = sql.join(wanted.map(rankOf), sql` + `);
  const found = sql`
    from memories join documents on documents.id = memories.document_id
    where documents.owner = ${account} and documents.name in (${sql.join([...documents])})
      and ${matches}`;
  // Notes are asked for before the rows: words that are made anew in between are found, then.
  const count = await sql<{ total: number; hasFormerWords: boolean }>`
    select count(*) as total, exists (select from former_words) as "hasFormerWords"
    ${found}`.execute(db);
  const { rows } = await sql<MemoryColumns & { readonly total: number }>`
    with found as materialized (
        select memories.row_id, memories.memory_id, documents.name, -(${rank}) as rank ${found}),
      last as (select rank, memory_id, name from found
        where memory_id = ${asId(from?.id)} order by name limit 1)
    select found.name, memories.row_id, memories.memory_id, memories.key, memories.value,
      memories.created_at, memories.updated_at
    from found join memories on memories.row_id = found.row_id
    where not exists (select 1 from last)
      or (found.rank, found.memory_id) > (select rank, memory_id from last)
    order by found.rank, found.memory_id, found.name
    limit ${limit ?? null}::bigint
    offset case when exists (select 1 from last) then 0 else ${offset}::bigint end`.execute(db);
  return { rows, total: 0, hasFormerWords: false, ...count.rows[0] };
}

function asId(id: string | undefined): MemoryId | "" {
  // It is only compared.
  return (id ?? "") as MemoryId | "";
}

function isIn(words: RawBuilder<string>, { phrase, isPrefixToo: isPrefix }: SearchTerm) {
  return sql`strpos(${words}, ${isPrefix ? phrase.trimEnd() : phrase}) > 0`;
}

/** How often the words are there, by how long the text is; a whole word counts twice. */
function rankOf({ phrase, isPrefixToo: isPrefix }: SearchTerm): RawBuilder<number> {
  const ofKey = times(KEY_WORDS, phrase);
  const ofValue = times(VALUE_WORDS, phrase);
  const length = sql`(100 + length(${VALUE_WORDS}))`;
  const whole = sql<number>`(${KEY_COUNTS}::float8 * ${ofKey} / (20 + length(${KEY_WORDS})) * 20
    + ${ofValue} * 100.0 / ${length})`;
  if (!isPrefix) return whole;
  const begun = phrase.trimEnd();
  return sql<number>`(${whole} + ${KEY_COUNTS}::float8 * ${times(KEY_WORDS, begun)}
      / (20 + length(${KEY_WORDS})) * 20 + ${times(VALUE_WORDS, begun)} * 100.0 / ${length})`;
}

function times(words: RawBuilder<string>, phrase: string): RawBuilder<number> {
  const { length } = phrase;
  return sql<number>`least(8, (length(${words}) - length(replace(${words}, ${phrase}, '')))
    / ${sql.lit(length)})`;
}
