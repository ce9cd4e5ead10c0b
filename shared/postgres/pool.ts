import { Socket } from "node:net";
import type { CompiledQuery, DatabaseConnection, Kysely, QueryResult } from "kysely";
import pg from "pg";
import { assert } from "../errors.ts";
import { isObject } from "../json.ts";
import {
  foreseen,
  isConnectionDead,
  isDiskFull,
  isUnanswered,
  isWaitOver,
  tooBusy,
} from "./failures.ts";
import {
  ANSWERED_WITHIN_MS,
  isRepeatable,
  kyselyOn,
  PostgresSession,
  TransactionDriver,
} from "./session.ts";

/** While so many wait for a connection, everybody else is refused at once. */
const WAITING_MAX = 1024;

/** A wait for a connection ends with a refusal after this long. */
const CONNECTED_WITHIN_MS = 10_000;

/** A database that is silent for this long is asked whether it is still there. */
const SILENT_MS = 10_000;

/**
 * A session's settings. A server that is stopped while it holds an account's lock loses it after
 * ten seconds, and no statement takes more than thirty. `memsync.words` says by whose rules the
 * words of memories are made: a trigger notes those of others.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: "30s",
  lock_timeout: "15s",
  idle_in_transaction_session_timeout: "10s",
  default_transaction_isolation: "read committed",
  "memsync.words": "1",
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
  const asLibpq = /(^|&)uselibpqcompat=true(&|$)/.test(query);
  const given = query.split("&").map((each) => (asLibpq ? each : withKnownCertificate(each)));
  const own = given.findLast((each) => each.startsWith("options="));
  const ours = Object.entries(SESSION_SETTINGS).map(([name, value]) => {
    return `-c+${name}=${value.replaceAll(" ", "\\+")}`;
  });
  const options = [...(own ? [own.slice("options=".length)] : []), ...ours].join("+");
  return `${before}?${query === "" ? "" : `${given.join("&")}&`}options=${options}${rest}`;
}

/** These modes are `verify-full` to the driver, which says so in a page of warning. */
function withKnownCertificate(parameter: string): string {
  return parameter.replace(/^sslmode=(prefer|require|verify-ca)$/, "sslmode=verify-full");
}

/** A connection, and its number among those that were made, from 1. */
interface Made<Tables> {
  readonly session: PostgresSession<Tables>;
  readonly number: number;
}

/** A bounded number of connections. If all are in use, callers wait in turn, for a bounded time. */
export class SessionPool<Tables> {
  readonly #pool: pg.Pool;
  readonly #used = new Set<PostgresSession<Tables>>();
  readonly #sessions = new WeakMap<pg.PoolClient, Made<Tables>>();
  /** The connections that were silent for too long. */
  readonly #silent = new WeakSet<pg.PoolClient>();
  /** The database's processes whose connection was given up while they worked. */
  readonly #left = new Set<number>();
  readonly #connectionsMax: number;
  readonly #keepsPlaces: boolean;
  #made = 0;
  #answered = 0;
  /** Whether the database's disk was full at the last write, and no write has found room since. */
  isFull = false;
  #isHeldUp = false;
  /** Called when commits are found to be held up, and again at each look that still finds it. */
  onHeldUp = () => {};

  /** `keepsPlaces`: see `give`; `freePlaces` has to be called then. */
  constructor(address: string, connectionsMax: number, { keepsPlaces = false } = {}) {
    const config = { ...clientConfig(address), max: connectionsMax, pipeline: true };
    this.#connectionsMax = connectionsMax;
    this.#keepsPlaces = keepsPlaces;
    this.#pool = new pg.Pool(config);
    // A connection that is lost while nobody uses it is replaced when it is needed.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => {
      // A lost connection fails at its next statement. It may be lost before anybody has got it.
      client.on("error", () => {});
      client.on("drain", () => {
        this.#answered += 1;
      });
    });
  }

  /** How many connections are open and in use, and how many callers wait. */
  get figures(): { readonly open: number; readonly used: number; readonly waiting: number } {
    const { totalCount: open, idleCount, waitingCount: waiting } = this.#pool;
    return { open, used: open - idleCount, waiting };
  }

  /** Changes whenever the database answers anything on any connection. */
  get answered(): number {
    return this.#answered;
  }

  /** How many connections were made so far. */
  get made(): number {
    return this.#made;
  }

  /**
   * A connection for the caller alone, until `give`. A caller that has just found one dead passes
   * `but`, the number made so far: older ones that nobody used since may be dead, too.
   */
  async take(but = 0): Promise<PostgresSession<Tables>> {
    for (;;) {
      if (this.#pool.waitingCount >= WAITING_MAX) throw tooBusy();
      const client = await this.#connect();
      const { session, number } = this.#sessions.get(client) ?? this.#add(client);
      this.#used.add(session);
      if (number > but) return session;
      this.give(session, true);
    }
  }

  #add(client: pg.PoolClient): Made<Tables> {
    this.#made += 1;
    const onFailed = (thrown: unknown) => {
      if (isDiskFull(thrown)) this.isFull = true;
      if (isUnanswered(thrown)) this.#silent.add(client);
    };
    const made = { session: new PostgresSession<Tables>(client, onFailed), number: this.#made };
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

  /**
   * Gives a connection back. `isBroken`: nobody else gets it. If it was silent, the database's
   * process may still run, for example in a commit that waits for a lost standby. It keeps its
   * place then, or such processes would add up without a limit.
   */
  give(session: PostgresSession<Tables>, isBroken = false): void {
    this.#used.delete(session);
    const { client } = session;
    const process = processIdOf(client);
    const isLeft = this.#keepsPlaces && isBroken && this.#silent.has(client);
    if (isLeft && process !== undefined) this.#left.add(process);
    this.#setMax();
    client.release(isBroken);
  }

  /** The database's processes of the connections that are used. */
  get processes(): number[] {
    return [...this.#used].flatMap(({ client }) => processIdOf(client) ?? []);
  }

  /** Loses the connections of these processes, which go on with what they do. */
  leave(processes: readonly number[]): void {
    for (const { client } of this.#used) {
      if (processes.includes(processIdOf(client) ?? 0)) socketOf(client)?.destroy();
    }
  }

  /**
   * Frees the places of processes that have ended since. `reader`: another pool, on which this is
   * asked.
   */
  async freePlaces(reader: SessionPool<Tables>, withinMs: number): Promise<void> {
    if (this.#left.size === 0) return;
    const rows = await reader.use((session) =>
      session.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[]) AND state = 'active'
          AND wait_event_type IS DISTINCT FROM 'Client'`,
        [[...this.#left]],
        withinMs,
      ),
    );
    const working = new Set(rows.map(({ pid }) => pid));
    for (const process of this.#left) if (!working.has(process)) this.#left.delete(process);
    this.#setMax();
  }

  /**
   * Whether a look has found commits that wait for a lost standby. Nobody begins another one then.
   */
  get isHeldUp(): boolean {
    return this.#isHeldUp;
  }

  set isHeldUp(isHeldUp: boolean) {
    this.#isHeldUp = isHeldUp;
    if (isHeldUp) this.onHeldUp();
  }

  /** How many places such processes keep. */
  get placesKept(): number {
    return this.#left.size;
  }

  /** One connection always remains for work that waits for no disk. */
  #setMax(): void {
    this.#pool.options.max = Math.max(1, this.#connectionsMax - this.#left.size);
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

  /** Ends all connections, and waits for those in use. */
  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** Which of PostgreSQL's processes serves a connection; the driver's types leave it out. */
export function processIdOf(client: pg.ClientBase): number | undefined {
  return "processID" in client && typeof client.processID === "number"
    ? client.processID
    : undefined;
}

/** The driver's types leave it out. */
function socketOf(client: pg.ClientBase): Socket | undefined {
  if (!("connection" in client && isObject(client.connection))) return undefined;
  const { stream } = client.connection;
  return stream instanceof Socket ? stream : undefined;
}

/** Kysely that takes a connection for each statement. */
export function kyselyThrough<Tables>(pool: SessionPool<Tables>): Kysely<Tables> {
  return kyselyOn<Tables>(new PoolDriver(pool));
}

/**
 * A connection for one statement. It may have died while nobody used it, as when the database was
 * restarted: a read is then tried once more, on another one.
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

class PoolDriver<Tables> extends TransactionDriver {
  constructor(readonly pool: SessionPool<Tables>) {
    super();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return new PooledConnection(this.pool, await this.pool.take());
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PooledConnection) connection.release();
  }

  destroy(): Promise<void> {
    return this.pool.end();
  }
}
