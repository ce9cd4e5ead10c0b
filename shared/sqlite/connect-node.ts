import { messageOf } from "../errors.ts";
import { type ConnectionOptions, type SqliteConnection, StatementCache } from "./connection.ts";

/**
 * `better-sqlite3` behind the seam. It is an optional dependency, for it has to be compiled where
 * no built copy is to be had; without it this throws one sentence that says what to do.
 */
export async function connect(path: string, options: ConnectionOptions): Promise<SqliteConnection> {
  const Database = await loadDriver();
  const database = new Database(path, { readonly: options.readonly });
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    return {
      reader: statement.reader,
      all: (parameters: readonly unknown[]) => statement.all(...parameters),
      run: (parameters: readonly unknown[]) => {
        if (!isPragma(sql)) return statement.run(...parameters);
        // The driver takes one step of a statement that gives no rows; some pragmas need many.
        database.exec(sql);
        return { changes: 0, lastInsertRowid: 0 };
      },
      iterate: (parameters: readonly unknown[]) => statement.iterate(...parameters),
    };
  };
  const statements = new StatementCache(prepare, () => {
    // The driver finalizes what nobody refers to any more, and all of them when it closes.
  });
  return {
    prepare: (sql) => statements.get(sql),
    exec: (sql) => {
      database.exec(sql);
    },
    close: () => {
      database.close();
    },
  };
}

function isPragma(sql: string): boolean {
  return /^\s*pragma\b/i.test(sql);
}

async function loadDriver() {
  try {
    const { default: Database } = await import("better-sqlite3");
    // Only the first database loads the compiled half, which may be missing or another Node's.
    new Database(":memory:").close();
    return Database;
  } catch (thrown) {
    throw new Error(
      "memsync under Node needs the package better-sqlite3, which could not be loaded: install " +
        "it with `npm install better-sqlite3@12`, or run memsync under Bun. " +
        `(${messageOf(thrown).split("\n", 1)})`,
    );
  }
}
