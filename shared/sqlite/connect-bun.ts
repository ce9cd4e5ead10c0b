import { Database, type SQLQueryBindings } from "bun:sqlite";
import { type ConnectionOptions, type SqliteConnection, StatementCache } from "./connection.ts";

/** `bun:sqlite` behind the seam. `path` may be `:memory:`. */
export function connect(path: string, { readonly, content }: ConnectionOptions): SqliteConnection {
  const database = content
    ? Database.deserialize(content)
    : new Database(path, readonly ? { readonly } : { readwrite: true, create: true });
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    // Bun itself refuses what can't be bound, when the statement runs.
    const bind = (parameters: readonly unknown[]) => parameters as SQLQueryBindings[];
    return {
      reader: statement.columnNames.length > 0,
      all: (parameters: readonly unknown[]) => statement.all(...bind(parameters)),
      run: (parameters: readonly unknown[]) => statement.run(...bind(parameters)),
      iterate: (parameters: readonly unknown[]) => statement.iterate(...bind(parameters)),
      finalize: () => statement.finalize(),
    };
  };
  const statements = new StatementCache(prepare, (statement) => statement.finalize());
  return {
    prepare: (sql) => statements.get(sql),
    exec: (sql) => {
      database.exec(sql);
    },
    close: () => {
      // With an open statement the file would stay open, and its log would not be written back.
      statements.clear();
      database.close();
    },
  };
}
