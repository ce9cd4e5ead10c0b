import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  type QueryResult,
} from "kysely";
import pg from "pg";
import { assert } from "../errors.ts";
import { foreseen, isConnectionDead, isWaitOver, tooBusy } from "./failures.ts";
import { ANSWERED_WITHIN_MS, isRepeatable, kyselyOn, PostgresSession } from "./session.ts";

/** Beyond so many that wait for a connection everybody else is refused at once. */
const WAITING_MAX = 1024;

/** Whoever has waited this long for a connection is refused. */
const CONNECTED_WITHIN_MS = 10_000;

/** A database that is silent for this long is asked whether it is still there. */
const SILENT_MS = 10_000;

/**
 * A session's settings. A server that is stopped while it holds an account's lock loses it after
 * ten seconds, and no statement takes more than thirty.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: "30s",
  lock_timeout: "15s",
  idle_in_transaction_session_timeout: "10s",
  default_transaction_isolation: "read committed",
};

const INT8 = 20;
const NUMERIC = 1700;

/** Times and counts are numbers here; none is larger than what a number holds exactly. */
const TYPES = new pg.TypeOverrides();
for (const type of [INT8, NUMERIC]) TYPES.setTypeParser(type, Number);

/** The settings of every connection to the database at `address`. */
export function clientConfig(address: string): pg.ClientConfig {
  return {
    connectionString: withSettings(address),
    application_name: "memsync",
    connectionTimeoutMillis: CONNECTED_WITHIN_MS,
    query_timeout: ANSWERED_WITHIN_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: SILENT_MS,
    types: TYPES,
  };
}

/**
 * The address with a session's settings behind its own `options`, as part of a query: what an
 * address says wins over all other configuration, and of two values the later one.
 */
function withSettings(address: string): string {
  const [, before = address, query = "", rest = ""] =
    /^([^?#]*)\??([^#]*)(.*)$/s.exec(address) ?? [];
  const own = query.split("&").findLast((each) => each.startsWith("options="));
  const ours = Object.entries(SESSION_SETTINGS).map(([name, value]) => {
    return `-c+${name}=${value.replaceAll(" ", "\\+")}`;
  });
  const options = [...(own ? [own.slice("options=".length)] : []), ...ours].join("+");
  return `${before}?${query === "" ? "" : `${query}&`}options=${options}${rest}`;
}

/** A connection, and how many were made before it and with it. */
interface Made<Tables> {
  readonly session: PostgresSession<Tables>;
  readonly number: number;
}

/** A bounded number of connections. Who finds none waits in turn, and not for ever. */
export class SessionPool<Tables> {
  readonly #pool: pg.Pool;
  readonly #sessions = new WeakMap<pg.PoolClient, Made<Tables>>();
  #made = 0;
  #answered = 0;

  constructor(address: string, connectionsMax: number) {
    const config = { ...clientConfig(address), max: connectionsMax, pipeline: true };
    this.#pool = new pg.Pool(config);
    // One that is lost while nobody uses it is replaced when it is needed.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => {
      // Its loss shows at its next statement. It may be lost before anybody has got it.
      client.on("error", () => {});
      client.on("drain", () => {
        this.#answered += 1;
      });
    });
  }

  /** How many there are, are used, and are waited for. */
  get figures(): { readonly open: number; readonly used: number; readonly waiting: number } {
    const { totalCount: open, idleCount, waitingCount: waiting } = this.#pool;
    return { open, used: open - idleCount, waiting };
  }

  /** Moves while the database answers anything on any of them. */
  get answered(): number {
    return this.#answered;
  }

  /** How many connections there have been. */
  get made(): number {
    return this.#made;
  }

  /**
   * A connection of one's own, until `give`. Who has found one dead takes none of the first `but`
   * again: those that nobody used may be dead, too.
   */
  async take(but = 0): Promise<PostgresSession<Tables>> {
    for (;;) {
      if (this.#pool.waitingCount >= WAITING_MAX) throw tooBusy();
      const client = await this.#connect();
      const { session, number } = this.#sessions.get(client) ?? this.#add(client);
      if (number > but) return session;
      this.give(session, true);
    }
  }

  #add(client: pg.PoolClient): Made<Tables> {
    this.#made += 1;
    const made = { session: new PostgresSession<Tables>(client), number: this.#made };
    this.#sessions.set(client, made);
    return made;
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (thrown) {
      throw isWaitOver(thrown) ? tooBusy() : foreseen(thrown);
    }
  }

  /** `isBroken`: nobody else gets it. */
  give(session: PostgresSession<Tables>, isBroken = false): void {
    session.client.release(isBroken);
  }

  /** For `work` that reads: on a connection that turns out to be dead it runs once more. */
  async use<Result>(
    work: (session: PostgresSession<Tables>) => Promise<Result>,
    but = 0,
  ): Promise<Result> {
    const session = await this.take(but);
    try {
      return await work(session);
    } catch (thrown) {
      if (but > 0 || !isConnectionDead(thrown)) throw thrown;
    } finally {
      this.give(session);
    }
    return await this.use(work, this.#made);
  }

  /** Waits for those that are used. */
  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** Kysely that takes a connection for each statement. */
export function kyselyThrough<Tables>(pool: SessionPool<Tables>): Kysely<Tables> {
  return kyselyOn<Tables>(new PoolDriver(pool));
}

/**
 * A connection for one statement. It may have died while nobody used it, as when the database was
 * started again: a read then has another one, once.
 */
class PooledConnection<Tables> implements DatabaseConnection {
  readonly #pool: SessionPool<Tables>;
  #session: PostgresSession<Tables> | undefined;

  constructor(pool: SessionPool<Tables>, session: PostgresSession<Tables>) {
    this.#pool = pool;
    this.#session = session;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const session = this.#session;
    assert(session, "a connection that was given back is not used");
    try {
      return await session.executeQuery<Row>(query);
    } catch (thrown) {
      if (!isConnectionDead(thrown) || !isRepeatable(query)) throw thrown;
    }
    this.#session = undefined;
    this.#pool.give(session, true);
    const fresh = await this.#pool.take(this.#pool.made);
    this.#session = fresh;
    return await fresh.executeQuery<Row>(query);
  }

  // biome-ignore lint/correctness/useYield: nobody streams.
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error("rows are not streamed");
  }

  release(): void {
    if (this.#session) this.#pool.give(this.#session);
  }
}

class PoolDriver<Tables> implements Driver {
  constructor(readonly pool: SessionPool<Tables>) {}

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new PooledConnection(this.pool, await this.pool.take());
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin"));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PooledConnection) connection.release();
  }

  destroy(): Promise<void> {
    return this.pool.end();
  }
}
