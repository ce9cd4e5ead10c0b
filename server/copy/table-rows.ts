import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { spacedWords } from "../../shared/replica/search/words.ts";
import { isPostgres } from "../../shared/sqlite/dialects.ts";
import type { HostTables } from "../stores/account-tables.ts";
import { keptWho } from "../stores/kept-answer-store.ts";
import type { CopiedTable } from "./copied-tables.ts";

type Db = Kysely<HostTables>;

export type CopiedRow = Readonly<Record<string, unknown>>;

/** Rows that are read and written by one statement at most. */
const ROWS_AT_ONCE = 200;

/** As long as nobody knows how large a table's rows are. */
const ROWS_AT_FIRST = 8;

/**
 * Bytes that one statement writes, up to a row. PostgreSQL takes a gigabyte, and has 30 seconds for
 * it; a single document may have eleven megabytes.
 */
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/** Columns of a memory that PostgreSQL alone has: it derives them from the key and the value. */
const WORDS: ReadonlySet<string> = new Set(["key_words", "value_words"]);

/** All rows of a table in the order of their keys, some at a time. */
export async function* rowsOf(
  db: Db,
  { name, keys }: CopiedTable,
): AsyncGenerator<readonly CopiedRow[]> {
  const columns = sql.join(keys.map((key) => sql.ref(key)));
  let last: CopiedRow | undefined;
  let most = ROWS_AT_FIRST;
  for (;;) {
    const after = last;
    const further = after && sql`where (${columns}) > (${sql.join(keys.map((key) => after[key]))})`;
    const { rows } = await sql<CopiedRow>`
      select * from ${sql.table(name)} ${further ?? sql``}
      order by ${columns} limit ${sql.lit(most)}`.execute(db);
    const pieces = inPieces(rows.map((row) => asCopied(name, row)));
    yield* pieces;
    last = rows.at(-1);
    if (rows.length < most) return;
    const longest = Math.max(...pieces.map((piece) => piece.length));
    most = pieces.length > 1 ? longest : Math.min(2 * most, ROWS_AT_ONCE);
  }
}

/** The rows in order, each piece with no more bytes than one statement is to write. */
function inPieces(rows: readonly CopiedRow[]): CopiedRow[][] {
  const pieces: CopiedRow[][] = [];
  let bytes = BYTES_AT_ONCE;
  for (const row of rows) {
    const size = sizeOf(row);
    bytes += size;
    if (bytes <= BYTES_AT_ONCE) pieces.at(-1)?.push(row);
    else {
      pieces.push([row]);
      bytes = size;
    }
  }
  return pieces;
}

/** About as many bytes as a row takes. */
function sizeOf(row: CopiedRow): number {
  const sizes = Object.values(row).map((value) =>
    typeof value === "string" || value instanceof Uint8Array ? value.length : 0,
  );
  return sizes.reduce((sum, size) => sum + size, 1);
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
