import type { Compilable, CompiledQuery, Kysely, RawBuilder } from "kysely";
import { pinnedBy, transactionOf } from "./direct.ts";

/** In a compiled query, the place of the value of that name. */
class Placeholder {
  constructor(readonly name: string) {}
}

/** A compiled query, which each call runs with other values, by name. */
export interface Compiled<Tables, Values, Row> {
  (db: Kysely<Tables>, values: Values): Promise<Row[]>;
  /** Runs it without a promise. `db` must be that of a write transaction. */
  now(db: Kysely<Tables>, values: Values): Row[];
}

/**
 * A query that is built and compiled only at its first use, since for a short query that takes
 * longer than running it. `build` is called once, with placeholders in place of the values, at
 * which it must not look. Each call then runs the query with its values. All calls must use
 * databases of one dialect.
 */
export function compiled<Tables, Values extends object, Row>(
  build: (db: Kysely<Tables>, values: Values) => Compilable<Row>,
): Compiled<Tables, Values, Row> {
  let known: CompiledQuery<Row> | undefined;
  const queryFor = (db: Kysely<Tables>): CompiledQuery<Row> => {
    known ??= build(db, STAND_INS as Values).compile();
    return known;
  };
  const now = (db: Kysely<Tables>, values: Values): Row[] => {
    const query = queryFor(db);
    return transactionOf(db).run(query.sql, filled(query, values)) as Row[];
  };
  const anywhere = async (db: Kysely<Tables>, values: Values): Promise<Row[]> => {
    if (pinnedBy(db)) return now(db, values);
    const query = queryFor(db);
    const { rows } = await db.executeQuery<Row>({ ...query, parameters: filled(query, values) });
    return rows;
  };
  return Object.assign(anywhere, { now });
}

/** A query in plain SQL, for `compiled`. */
export function compilable<Tables, Row>(
  db: Kysely<Tables>,
  statement: RawBuilder<Row>,
): Compilable<Row> {
  return { compile: () => statement.compile(db) };
}

/** Returns a placeholder for any name. */
const STAND_INS = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) });

function filled({ parameters }: CompiledQuery, values: object): unknown[] {
  const named = values as Readonly<Record<string, unknown>>;
  return parameters.map((parameter) => {
    return parameter instanceof Placeholder ? named[parameter.name] : parameter;
  });
}
