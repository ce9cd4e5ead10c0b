import type { Compilable, Kysely } from "kysely";
import { chunksOf } from "../turns.ts";
import { type Compiled, compiled } from "./compiled.ts";
import { pinnedBy } from "./direct.ts";

/**
 * So many rows are read or written by one statement where there are as many: for one row, most of
 * the time goes into the call.
 */
export const ROWS_AT_ONCE = 64;

const PLACES = Array.from({ length: ROWS_AT_ONCE }, (_, at) => at);

/** The values of `ROWS_AT_ONCE` rows for one statement: `key` of the third one is `key2`. */
type Numbered = Readonly<Record<string, unknown>>;

/** A compiled query about any number of rows. */
export interface CompiledForMany<Tables, Row, Result> {
  (db: Kysely<Tables>, rows: readonly Row[]): Promise<Result[]>;
  /** See `Compiled`. */
  now(db: Kysely<Tables>, rows: readonly Row[]): Result[];
}

/**
 * A query about many rows, which runs once for each `ROWS_AT_ONCE` of them, and for what is left
 * over once for each. `build` is called with as many rows of placeholders; see `compiled`.
 */
export function compiledForMany<Tables, Row extends object, Result>(
  build: (db: Kysely<Tables>, rows: readonly Row[]) => Compilable<Result>,
): CompiledForMany<Tables, Row, Result> {
  const one = compiled((db: Kysely<Tables>, row: Row) => build(db, [row]));
  const many = compiled((db: Kysely<Tables>, given: Numbered) =>
    build(
      db,
      PLACES.map((at) => new Proxy({}, { get: (_, name) => given[`${String(name)}${at}`] }) as Row),
    ),
  );
  /** Calls `run` with each statement and its values. */
  const each = <Ran>(
    rows: readonly Row[],
    run: <Values>(query: Compiled<Tables, Values, Result>, values: Values) => Ran,
  ): Ran[] => {
    if (rows.length < ROWS_AT_ONCE) return rows.map((row) => run(one, row));
    return chunksOf(rows, ROWS_AT_ONCE).flatMap((some) =>
      some.length < ROWS_AT_ONCE ? each(some, run) : [run(many, numbered(some))],
    );
  };
  const now = (db: Kysely<Tables>, rows: readonly Row[]) => {
    const [only] = rows;
    if (only && rows.length === 1) return one.now(db, only);
    return each(rows, (query, values) => query.now(db, values)).flat();
  };
  const anywhere = async (db: Kysely<Tables>, rows: readonly Row[]) => {
    if (pinnedBy(db)) return now(db, rows);
    return (await Promise.all(each(rows, (query, values) => query(db, values)))).flat();
  };
  return Object.assign(anywhere, { now });
}

function numbered(rows: readonly object[]): Numbered {
  const values: Record<string, unknown> = {};
  for (const [at, row] of rows.entries()) {
    for (const [name, value] of Object.entries(row)) values[numberedName(name, at)] = value;
  }
  return values;
}

const numberedNames = new Map<string, readonly string[]>();

/** Kept, because making a name takes longer than its use. */
function numberedName(name: string, at: number): string {
  const known = numberedNames.get(name) ?? PLACES.map((place) => `${name}${place}`);
  numberedNames.set(name, known);
  return known[at] ?? "";
}
