import type { SqliteConnection, SqliteStatement } from "../../shared/sqlite/connection.ts";

/** Sees each statement before it runs; what it throws, the statement throws. */
export type Watch = (sql: string, run: () => void) => void;

/**
 * A connection that asks `watch` before each statement. `run` runs it, for a failure that comes
 * after the effect.
 */
export function watched(connection: SqliteConnection, watch: Watch): SqliteConnection {
  return {
    exec: (sql) => connection.exec(sql),
    close: () => connection.close(),
    prepare: (sql) => watchedStatement(connection.prepare(sql), sql, watch),
  };
}

function watchedStatement(statement: SqliteStatement, sql: string, watch: Watch): SqliteStatement {
  return {
    reader: statement.reader,
    iterate: (parameters) => statement.iterate(parameters),
    all(parameters) {
      watch(sql, () => statement.all(parameters));
      return statement.all(parameters);
    },
    run(parameters) {
      watch(sql, () => statement.run(parameters));
      return statement.run(parameters);
    },
  };
}
