import type { Compilable, CompiledQuery, Kysely, RawBuilder } from "kysely";
import { isPostgres } from "./dialects.ts";
import { pinnedBy, transactionOf } from "./direct.ts";

/**
 * In a compiled query, the place of the value of that name; in a query about many rows, also of
 * which row.
 */
class Placeholder {
  constructor(
    readonly name: string,
    readonly row = 0,
  ) {}
}

/** A compiled query, which each call runs with other values, by name. */
export interface Compiled<Tables, Values, Row> {
  (db: Kysely<Tables>, values: Values): Promise<Row[]>;
  /** Runs it without a promise, on SQLite. `db` must be that of a write transaction. */
  now(db: Kysely<Tables>, values: Values): Row[];
}

/**
 * A query that is built and compiled only once, at its first use: for a short query that takes
 * longer than running it. `build` is called once for each kind of database, with placeholders,
 * whose values it must not look at. Each call then runs the query with its own values.
 */
export function compiled<Tables, Values extends object, Row>(
  build: (db: Kysely<Tables>, values: Values) => Compilable<Row>,
): Compiled<Tables, Values, Row> {
  // There is one row, as the count says.
  const query = compiledForRows<Tables, Values, Row>(1, (db, [only]) => build(db, only as Values));
  const now = (db: Kysely<Tables>, values: Values) => query.now(db, [values]);
  const anywhere = (db: Kysely<Tables>, values: Values) => query(db, [values]);
  return Object.assign(anywhere, { now });
}

/** The same for the values of so many rows. */
export function compiledForRows<Tables, Values extends object, Row>(
  count: number,
  build: (db: Kysely<Tables>, rows: readonly Values[]) => Compilable<Row>,
): Compiled<Tables, readonly Values[], Row> {
  let known: CompiledQuery<Row> | undefined;
  let onPostgres: CompiledQuery<Row> | undefined;
  const onSqlite = (db: Kysely<Tables>): CompiledQuery<Row> => {
    known ??= build(db, standInsFor(count)).compile();
    return known;
  };
  const queryFor = (db: Kysely<Tables>): CompiledQuery<Row> => {
    if (!isPostgres(db)) return onSqlite(db);
    onPostgres ??= build(db, standInsFor(count)).compile();
    return onPostgres;
  };
  const now = (db: Kysely<Tables>, rows: readonly Values[]): Row[] => {
    const query = onSqlite(db);
    // `build` made the query, whose rows are of this type.
    return transactionOf(db).run(query.sql, filled(query, rows)) as Row[];
  };
  const anywhere = async (db: Kysely<Tables>, rows: readonly Values[]): Promise<Row[]> => {
    if (pinnedBy(db)) return now(db, rows);
    const query = queryFor(db);
    const found = await db.executeQuery<Row>({ ...query, parameters: filled(query, rows) });
    return found.rows;
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

/** Rows that give a placeholder for any name. */
function standInsFor<Values extends object>(count: number): Values[] {
  return Array.from({ length: count }, (_, row) => {
    // It has every property, those of `Values` among them.
    return new Proxy({}, { get: (_, name) => new Placeholder(String(name), row) }) as Values;
  });
}

function filled({ parameters }: CompiledQuery, rows: readonly object[]): unknown[] {
  // A placeholder has the name of one of the row's fields.
  const named = rows as readonly Readonly<Record<string, unknown>>[];
  return parameters.map((parameter) => {
    return parameter instanceof Placeholder ? named[parameter.row]?.[parameter.name] : parameter;
  });
}
