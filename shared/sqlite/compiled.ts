import type { Compilable, CompiledQuery, Kysely } from "kysely";
import { execute } from "./direct.ts";

/** Stands in a compiled query for the argument of that number. */
class Placeholder {
  constructor(readonly index: number) {}
}

/**
 * A query that is built and compiled at its first use only, which for a short one takes longer
 * than SQLite takes to run it. `build` is called once, with stand-ins that it may put wherever a
 * value goes, and must not look at; each call then runs the query with other values. All calls go
 * to databases of one dialect.
 */
export function compiled<Tables, Parameters extends readonly unknown[], Row>(
  build: (db: Kysely<Tables>, ...parameters: Parameters) => Compilable<Row>,
): (db: Kysely<Tables>, ...parameters: Parameters) => Promise<Row[]> {
  let query: CompiledQuery<Row> | undefined;
  return (db, ...values) => {
    query ??= build(db, ...placeholders<Parameters>(build.length - 1)).compile();
    const parameters = query.parameters.map((parameter) => {
      return parameter instanceof Placeholder ? values[parameter.index] : parameter;
    });
    const { sql, query: node, queryId } = query;
    return execute<Row, Tables>(db, { sql, parameters, query: node, queryId });
  };
}

function placeholders<Parameters extends readonly unknown[]>(count: number): Parameters {
  return Array.from(
    { length: count },
    (_, index) => new Placeholder(index),
  ) as unknown as Parameters;
}
