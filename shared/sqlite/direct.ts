import type { Kysely } from "kysely";
import { assert } from "../errors.ts";
import type { SqliteConnection } from "./connection.ts";

/**
 * Runs statements on a connection at once, without the dozen promises that Kysely makes for each.
 */
export class Direct {
  readonly #connection: SqliteConnection;
  readonly #onError: (thrown: unknown) => void;

  /** `onError` is called with a statement's error, which is thrown anyway. */
  constructor(connection: SqliteConnection, onError: (thrown: unknown) => void) {
    this.#connection = connection;
    this.#onError = onError;
  }

  /** Runs one statement and returns its rows, if any. */
  run(sql: string, parameters: readonly unknown[] = []): unknown[] {
    try {
      const statement = this.#connection.prepare(sql);
      if (statement.reader) return statement.all(parameters);
      statement.run(parameters);
      return [];
    } catch (thrown) {
      this.#onError(thrown);
      throw thrown;
    }
  }
}

/** By the Kysely that owns the connection. */
const below = new WeakMap<object, Direct>();
/** By the Kysely of a transaction. */
const pinned = new WeakMap<object, Direct>();

/** Records the connection of `kysely`. */
export function setDirect<Tables>(kysely: Kysely<Tables>, direct: Direct): void {
  below.set(kysely, direct);
}

/**
 * From now on compiled statements run directly on `db`, which `writer.connection()` has returned:
 * nobody else has the connection, so there is nothing to wait for. Ended by `release`.
 */
export function pin<Tables>(writer: Kysely<Tables>, db: Kysely<Tables>): Direct {
  const direct = below.get(writer);
  assert(direct, "every Kysely is made by `kyselyOver`");
  pinned.set(db, direct);
  return direct;
}

/** The connection is returned. Whoever still has `db` goes through Kysely again, and waits. */
export function release<Tables>(db: Kysely<Tables>): void {
  pinned.delete(db);
}

/** The connection of the transaction of `db`; undefined outside of one. */
export function pinnedBy<Tables>(db: Kysely<Tables>): Direct | undefined {
  return pinned.get(db);
}

/** The same; throws outside of a transaction. */
export function transactionOf<Tables>(db: Kysely<Tables>): Direct {
  const direct = pinned.get(db);
  assert(direct, "this runs inside a write transaction only");
  return direct;
}
