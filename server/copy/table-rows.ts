import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { spacedWords } from "../../shared/replica/search/words.ts";
import { isPostgres } from "../../shared/sqlite/dialects.ts";
import type { HostTables } from "../stores/account-tables.ts";
import { keptWho } from "../stores/kept-answer-store.ts";
import type { CopiedTable } from "./copied-tables.ts";

type Db = Kysely<HostTables>;

export type CopiedRow = Readonly<Record<string, unknown>>;

/** Rows that are read and written by one statement. */
const ROWS_AT_ONCE = 200;

/** Columns of a memory that PostgreSQL alone has: it derives them from the key and the value. */
const WORDS: ReadonlySet<string> = new Set(["key_words", "value_words"]);

/** All rows of a table in the order of their keys, some at a time. */
export async function* rowsOf(
  db: Db,
  { name, keys }: CopiedTable,
): AsyncGenerator<readonly CopiedRow[]> {
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  let last: CopiedRow | undefined;
  for (;;) {
    const after = last;
    const further = after && sql`where (${columns}) > (${sql.join(keys.map((key) => after[key]))})`;
    const { rows } = await sql<CopiedRow>`
      select * from ${sql.table(name)} ${further ?? sql``}
      order by ${columns} limit ${sql.lit(ROWS_AT_ONCE)}`.execute(db);
    if (rows.length > 0) yield rows.map((row) => asCopied(name, row));
    last = rows.at(-1);
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

/** A row as either database can hold it, whichever it is from. */
function asCopied(table: string, row: CopiedRow): CopiedRow {
  if (table === "kept_answers") return { ...row, who: keptWho(String(row.who)) };
  if (table !== "memories") return row;
  return Object.fromEntries(Object.entries(row).filter(([column]) => !WORDS.has(column)));
}

/** Writes rows as they are, with their numbers. */
export async function writeRows(db: Db, table: string, rows: readonly CopiedRow[]): Promise<void> {
  const written = isPostgres(db) && table === "memories" ? rows.map(withWords) : rows;
  const [first] = written;
  if (!first) return;
  const columns = Object.keys(first);
  const values = written.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  await sql`
    insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)}`.execute(db);
}

function withWords(row: CopiedRow): CopiedRow {
  return {
    ...row,
    key_words: spacedWords(String(row.key)),
    value_words: spacedWords(String(row.value)),
  };
}

/**
 * A digest of rows that does not depend on their order: the two databases sort long keys
 * differently.
 */
export class RowsDigest {
  #sum = 0n;
  rows = 0;

  add(rows: readonly CopiedRow[]): void {
    for (const row of rows) {
      this.rows += 1;
      const text = JSON.stringify(Object.entries(row).sort(byColumn).map(asText));
      const hash = createHash("sha256").update(text).digest("hex");
      this.#sum = (this.#sum + BigInt(`0x${hash}`)) % SUMS;
    }
  }

  get value(): string {
    return `${this.rows} ${this.#sum}`;
  }
}

/** The sum is kept to the 256 bits of a hash. */
const SUMS = 1n << 256n;

function byColumn([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

function asText([column, value]: readonly [string, unknown]): readonly unknown[] {
  return [column, value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value];
}
