import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type pg from "pg";
import { assert } from "../errors.ts";
import { foreseen } from "./failures.ts";

/** Statements that are prepared once on each connection. Others are planned at each run. */
const PREPARED_MAX = 512;

/** A little more than the database gives a statement: after this, the database itself is gone. */
export const ANSWERED_WITHIN_MS = 40_000;

/** What the driver's types leave out: it ends the connection if there is no answer by then. */
interface TimedQuery extends pg.QueryConfig<unknown[]> {
  readonly query_timeout: number;
}

/** By their texts; the same on every connection of this process. */
const names = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= PREPARED_MAX) return known;
  const name = `memsync_${names.size}`;
  names.set(text, name);
  return name;
}

/** What runs plain SQL. */
export interface Statements {
  /** Runs one statement and returns its rows. Its connection is lost without an answer in time. */
  query<Row>(text: string, values?: readonly unknown[], withinMs?: number): Promise<Row[]>;
  /** Runs a statement that writes; how many rows it has touched. */
  change(text: string, values: readonly unknown[]): Promise<number>;
  /** What PostgreSQL says it did; after a failure `COMMIT` rolls back. */
  command(text: string): Promise<string>;
}

const sessions = new WeakMap<object, Statements>();

/** The connection on which `db` runs, where that is one alone: in a transaction. */
export function sessionOf<Tables>(db: Kysely<Tables>): Statements {
  const session = sessions.get(db);
  assert(session, "this runs inside a transaction only");
  return session;
}

/**
 * One connection, with no other transaction on it. What is asked without waiting goes in one
 * packet.
 */
export class PostgresSession<Tables> implements DatabaseConnection, Statements {
  readonly db: Kysely<Tables>;
  /** Whether anything was written. */
  wrote = false;
  /** Whether a statement has failed. */
  failed = false;

  /** `onFailed` is called for each statement that fails, also one of a view. */
  constructor(
    readonly client: pg.PoolClient,
    readonly onFailed: (thrown: unknown) => void = () => {},
  ) {
    this.db = kyselyOn<Tables>(new SessionDriver(this));
    sessions.set(this.db, this);
  }

  /** The same connection, for one of several who use it at the same time. */
  view(): PostgresSession<Tables> {
    return new PostgresSession<Tables>(this.client, this.onFailed);
  }

  async query<Row>(
    text: string,
    values: readonly unknown[] = [],
    withinMs?: number,
  ): Promise<Row[]> {
    return (await this.#run<Row & pg.QueryResultRow>(text, values, withinMs)).rows;
  }

  async change(text: string, values: readonly unknown[]): Promise<number> {
    this.wrote = true;
    return (await this.#run(text, values)).rowCount ?? 0;
  }

  async command(text: string): Promise<string> {
    return (await this.#run(text, [])).command;
  }

  async executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    const isRead = isReading(query.kind, sql);
    if (!isRead) this.wrote = true;
    // The caller of Kysely knows the type of the rows that it asked for.
    const { rows, rowCount } = await this.#run<Row & pg.QueryResultRow>(sql, parameters);
    return isRead ? { rows } : { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  }

  // biome-ignore lint/correctness/useYield: nobody streams.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error("rows are not streamed");
  }

  async #run<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[],
    withinMs = ANSWERED_WITHIN_MS,
  ): Promise<pg.QueryResult<Row>> {
    const name = nameOf(text);
    const query: TimedQuery = {
      text,
      values: [...values],
      query_timeout: withinMs,
      ...(name !== undefined && { name }),
    };
    try {
      return await this.client.query<Row>(query);
    } catch (thrown) {
      this.failed = true;
      this.onFailed(thrown);
      throw foreseen(thrown);
    }
  }
}

function isReading(kind: string, sql: string): boolean {
  return kind === "SelectQueryNode" || /^\s*(with|select)\b/i.test(sql);
}

/** Whether a statement may run twice: it reads, locks nothing and changes nothing. */
export function isRepeatable({ sql, query }: CompiledQuery): boolean {
  return isReading(query.kind, sql) && !/\b(insert|update|delete)\b/i.test(sql);
}

/** Begins and ends a transaction by the statements for it, on whatever connection it gives. */
export abstract class TransactionDriver implements Driver {
  async init(): Promise<void> {}

  abstract acquireConnection(): Promise<DatabaseConnection>;

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin"));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  abstract releaseConnection(connection: DatabaseConnection): Promise<void>;

  abstract destroy(): Promise<void>;
}

class SessionDriver<Tables> extends TransactionDriver {
  constructor(readonly session: PostgresSession<Tables>) {
    super();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.session;
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

/** Kysely for PostgreSQL, whose connections are those of `driver`. */
export function kyselyOn<Tables>(driver: Driver): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}
