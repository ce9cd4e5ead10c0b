/** A value that a statement binds or returns. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/**
 * The interface to both runtimes: what Kysely's `SqliteDialect` needs of a database, implemented
 * with `bun:sqlite` on Bun and `better-sqlite3` on Node. All calls are synchronous.
 */
export interface SqliteConnection {
  prepare(sql: string): SqliteStatement;
  /** Runs statements without results, such as pragmas. */
  exec(sql: string): void;
  close(): void;
}

/** A compiled statement. Parameters are bound in order; a row is an object by column. */
export interface SqliteStatement<Row = unknown> {
  /** Whether the statement returns rows. */
  readonly reader: boolean;
  all(parameters: readonly unknown[]): Row[];
  run(parameters: readonly unknown[]): {
    changes: number | bigint;
    lastInsertRowid: number | bigint;
  };
  iterate(parameters: readonly unknown[]): IterableIterator<Row>;
}

/** A statement whose rows are of the type that the caller gives, who has written the SQL. */
export function prepareRows<Row>(
  connection: Pick<SqliteConnection, "prepare">,
  sql: string,
): SqliteStatement<Row> {
  // SQLite checks no types. Whoever names the columns in `sql` gives their types in `Row`.
  return connection.prepare(sql) as SqliteStatement<Row>;
}

/** How to open a database. A missing file is created if writing is allowed. */
export interface ConnectionOptions {
  /** Opens an existing file for reading alone. */
  readonly readonly: boolean;
  /** The file that a database in memory begins as a copy of. */
  readonly content?: Uint8Array | undefined;
}

/** How many compiled statements a connection keeps. The programs use far fewer. */
const STATEMENTS_KEPT_MAX = 512;

/** From this number on, the order of use is recorded. Before, it would only cost time. */
const STATEMENTS_ORDERED_MIN = STATEMENTS_KEPT_MAX / 2;

/** Keeps a connection's compiled statements by their text, and drops the one unused for longest. */
export class StatementCache<Statement extends SqliteStatement> {
  readonly #prepare: (sql: string) => Statement;
  readonly #drop: (statement: Statement) => void;
  readonly #kept = new Map<string, Statement>();

  constructor(prepare: (sql: string) => Statement, drop: (statement: Statement) => void) {
    this.#prepare = prepare;
    this.#drop = drop;
  }

  get(sql: string): Statement {
    const known = this.#kept.get(sql);
    if (known && this.#kept.size < STATEMENTS_ORDERED_MIN) return known;
    const statement = known ?? this.#prepare(sql);
    this.#kept.delete(sql);
    this.#kept.set(sql, statement);
    if (this.#kept.size > STATEMENTS_KEPT_MAX) this.#dropOldest();
    return statement;
  }

  #dropOldest(): void {
    for (const [sql, statement] of this.#kept) {
      this.#kept.delete(sql);
      this.#drop(statement);
      return;
    }
  }

  clear(): void {
    for (const statement of this.#kept.values()) this.#drop(statement);
    this.#kept.clear();
  }
}
