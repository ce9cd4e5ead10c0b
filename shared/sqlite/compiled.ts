import type { Compilable, CompiledQuery, Kysely } from "kysely";
import { heldBy, transactionOf } from "./direct.ts";

/** Stands in a compiled query for the argument of that number. */
class Placeholder {
  constructor(readonly index: number) {}
}

/** A query that is compiled already; each call runs it with other values. */
export interface Compiled<Tables, Parameters extends readonly unknown[], Row> {
  (db: Kysely<Tables>, ...parameters: Parameters): Promise<Row[]>;
  /** Runs it without a promise. `db` is that of a write transaction. */
  now(db: Kysely<Tables>, ...parameters: Parameters): Row[];
}

/**
 * A query that is built and compiled at its first use only, which for a short one takes longer
 * than SQLite takes to run it. `build` is called once, with stand-ins that it may put wherever a
 * value goes, and must not look at; each call then runs the query with other values. All calls go
 * to databases of one dialect.
 */
export function compiled<Tables, Parameters extends readonly unknown[], Row>(
  build: (db: Kysely<Tables>, ...parameters: Parameters) => Compilable<Row>,
): Compiled<Tables, Parameters, Row> {
  let known: CompiledQuery<Row> | undefined;
  const queryFor = (db: Kysely<Tables>): CompiledQuery<Row> => {
    known ??= build(db, ...placeholders<Parameters>(build.length - 1)).compile();
    return known;
  };
  const now = (db: Kysely<Tables>, ...values: Parameters): Row[] => {
    const query = queryFor(db);
    return transactionOf(db).run(query.sql, filled(query, values)) as Row[];
  };
  const anywhere = async (db: Kysely<Tables>, ...values: Parameters): Promise<Row[]> => {
    if (heldBy(db)) return now(db, ...values);
    const query = queryFor(db);
    const { rows } = await db.executeQuery<Row>({ ...query, parameters: filled(query, values) });
    return rows;
  };
  return Object.assign(anywhere, { now });
}

function filled({ parameters }: CompiledQuery, values: readonly unknown[]): unknown[] {
  return parameters.map((parameter) => {
    return parameter instanceof Placeholder ? values[parameter.index] : parameter;
  });
}

function placeholders<Parameters extends readonly unknown[]>(count: number): Parameters {
  return Array.from(
    { length: count },
    (_, index) => new Placeholder(index),
  ) as unknown as Parameters;
}
