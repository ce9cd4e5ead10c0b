import { messageOf } from "../errors.ts";
import { type ConnectionOptions, type SqliteConnection, StatementCache } from "./connection.ts";

/**
 * `better-sqlite3` behind the interface of both runtimes. It is an optional dependency, because it
 * must be compiled where no built copy is available. Without it this throws one sentence with
 * advice.
 */
export async function connect(
  path: string,
  { readonly, content }: ConnectionOptions,
): Promise<SqliteConnection> {
  const Database = await loadDriver();
  const database = new Database(content ? Buffer.from(content) : path, { readonly });
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    return {
      reader: statement.reader,
      all: (parameters: readonly unknown[]) => statement.all(...parameters),
      run: (parameters: readonly unknown[]) => {
        if (!isPragma(sql)) return statement.run(...parameters);
        // The driver makes only one step of a statement without rows; some pragmas need many.
        database.exec(sql);
        return { changes: 0, lastInsertRowid: 0 };
      },
      iterate: (parameters: readonly unknown[]) => statement.iterate(...parameters),
    };
  };
  const statements = new StatementCache(prepare, () => {
    // The driver releases statements that nobody uses, and all of them when it closes.
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
    // The first database loads the compiled part, which may be missing or made for another Node.
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
