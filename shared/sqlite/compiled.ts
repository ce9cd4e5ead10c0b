import type { Compilable, CompiledQuery, Kysely } from "kysely";
import { heldBy, transactionOf } from "./direct.ts";

/** Stands in a compiled query for the value of that name. */
class Placeholder {
  constructor(readonly name: string) {}
}

/** A query that is compiled already; each call runs it with other values, by name. */
export interface Compiled<Tables, Values, Row> {
  (db: Kysely<Tables>, values: Values): Promise<Row[]>;
  /** Runs it without a promise. `db` is that of a write transaction. */
  now(db: Kysely<Tables>, values: Values): Row[];
}

/**
 * A query that is built and compiled at its first use only, which for a short one takes longer
 * than SQLite takes to run it. `build` is called once, with stand-ins that it may put wherever a
 * value goes, and must not look at; each call then runs the query with other values. All calls go
 * to databases of one dialect.
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
    if (heldBy(db)) return now(db, values);
    const query = queryFor(db);
    const { rows } = await db.executeQuery<Row>({ ...query, parameters: filled(query, values) });
    return rows;
  };
  return Object.assign(anywhere, { now });
}

/** Has a stand-in for every name. */
const STAND_INS = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) });

function filled({ parameters }: CompiledQuery, values: object): unknown[] {
  const named = values as Readonly<Record<string, unknown>>;
  return parameters.map((parameter) => {
    return parameter instanceof Placeholder ? named[parameter.name] : parameter;
  });
}
