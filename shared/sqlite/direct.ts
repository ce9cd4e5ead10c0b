import type { CompiledQuery, Kysely } from "kysely";
import type { SqliteConnection } from "./connection.ts";

/** The connection below a Kysely, and who is told of what it throws. */
export interface Direct {
  readonly connection: SqliteConnection;
  readonly onError: (thrown: unknown) => void;
}

const below = new WeakMap<object, Direct>();
const held = new WeakMap<object, Direct>();

/** Says what `writer` runs its statements on. */
export function setDirect<Tables>(writer: Kysely<Tables>, direct: Direct): void {
  below.set(writer, direct);
}

/**
 * From now on `db`, which `writer.connection()` has given, runs compiled statements at once, past
 * the dozen promises that Kysely makes for each: nobody else has the connection, so there is
 * nothing to wait for. Ends with `release`.
 */
export function hold<Tables>(writer: Kysely<Tables>, db: Kysely<Tables>): void {
  const direct = below.get(writer);
  if (direct) held.set(db, direct);
}

/** The connection is given back; whoever still has `db` goes by Kysely again. */
export function release<Tables>(db: Kysely<Tables>): void {
  held.delete(db);
}

/** Runs a compiled statement and resolves to its rows: at once where `db` is held. */
export async function execute<Row, Tables>(
  db: Kysely<Tables>,
  query: CompiledQuery<Row>,
): Promise<Row[]> {
  const direct = held.get(db);
  return direct ? executeNow(direct, query) : (await db.executeQuery(query)).rows;
}

function executeNow<Row>({ connection, onError }: Direct, query: CompiledQuery<Row>): Row[] {
  try {
    const statement = connection.prepare(query.sql);
    if (statement.reader) return statement.all(query.parameters) as Row[];
    statement.run(query.parameters);
    return [];
  } catch (thrown) {
    onError(thrown);
    throw thrown;
  }
}
