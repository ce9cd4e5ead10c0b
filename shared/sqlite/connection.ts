/** A value that a statement binds or returns. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/**
 * The seam between the two runtimes: what Kysely's `SqliteDialect` asks of a database, given by
 * `bun:sqlite` on Bun and by `better-sqlite3` on Node. All calls are synchronous.
 */
export interface SqliteConnection {
  prepare(sql: string): SqliteStatement;
  /** Runs statements that return nothing, pragmas among them. */
  exec(sql: string): void;
  close(): void;
}

/** A compiled statement. Parameters bind in their order; a row is an object by column. */
export interface SqliteStatement {
  /** Whether the statement returns rows. */
  readonly reader: boolean;
  all(parameters: readonly unknown[]): unknown[];
  run(parameters: readonly unknown[]): {
    changes: number | bigint;
    lastInsertRowid: number | bigint;
  };
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>;
}

/** How to open a database; where it may write, a missing file is made. */
export interface ConnectionOptions {
  /** Opens an existing file for reading alone. */
  readonly readonly: boolean;
}

/** Statements kept compiled for each connection; the programs issue far fewer different ones. */
const STATEMENTS_KEPT_MAX = 512;

/** From so many on, the order of their use is kept; until then it would only cost time. */
const STATEMENTS_ORDERED_MIN = STATEMENTS_KEPT_MAX / 2;

/** Keeps the compiled statements of a connection by their text, dropping one unused for long. */
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
