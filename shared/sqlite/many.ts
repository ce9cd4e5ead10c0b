import type { Compilable, Kysely } from "kysely";
import { chunksOf } from "../turns.ts";
import { compiledForRows } from "./compiled.ts";
import { isPostgres } from "./dialects.ts";
import { pinnedBy } from "./direct.ts";

/**
 * How many rows one statement reads or writes, if there are as many: a call about one row takes
 * most of its time for the call itself.
 */
export const ROWS_AT_ONCE = 64;

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
  const one = compiledForRows(1, build);
  const many = compiledForRows(ROWS_AT_ONCE, build);
  /** Calls `run` with each statement and its rows. */
  const each = <Ran>(
    rows: readonly Row[],
    run: (query: typeof one, rows: readonly Row[]) => Ran,
  ): Ran[] =>
    chunksOf(rows, ROWS_AT_ONCE).flatMap((some) =>
      some.length < ROWS_AT_ONCE ? some.map((row) => run(one, [row])) : [run(many, some)],
    );
  const now = (db: Kysely<Tables>, rows: readonly Row[]) => {
    if (rows.length === 1) return one.now(db, rows);
    return each(rows, (query, some) => query.now(db, some)).flat();
  };
  const counted = new Map([
    [1, one],
    [ROWS_AT_ONCE, many],
  ]);
  /**
   * For PostgreSQL, where each statement is a way to the server and back: what is left over goes in
   * one statement, too, which is compiled for that number of rows.
   */
  const exactly = async (db: Kysely<Tables>, rows: readonly Row[]): Promise<Result[]> => {
    const queries = chunksOf(rows, ROWS_AT_ONCE).map((some) => {
      const query = counted.get(some.length) ?? compiledForRows(some.length, build);
      counted.set(some.length, query);
      return query(db, some);
    });
    return (await Promise.all(queries)).flat();
  };
  const anywhere = async (db: Kysely<Tables>, rows: readonly Row[]) => {
    if (pinnedBy(db)) return now(db, rows);
    if (isPostgres(db)) return await exactly(db, rows);
    return (await Promise.all(each(rows, (query, some) => query(db, some)))).flat();
  };
  return Object.assign(anywhere, { now });
}
