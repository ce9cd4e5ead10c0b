import { Database } from "bun:sqlite";
import { rmSync, writeFileSync } from "node:fs";
import { connect as connectBun } from "../../../../shared/sqlite/connect-bun.ts";
import type {
  ConnectionOptions,
  SqliteConnection,
  SqliteStatement,
} from "../../../../shared/sqlite/connection.ts";
import type { Dice } from "../dice.ts";

/**
 * What happens to a disk after `writes` more writes. `full`: `times` writes fail, then there is
 * room again. `stop`: nothing is written any more, and the process dies.
 */
export type DiskFault =
  | { readonly kind: "full"; readonly writes: number; readonly times: number }
  | { readonly kind: "stop"; readonly writes: number };

const READS = /^\s*(select|with|pragma)\b/i;
const ENDS = /^(COMMIT|ROLLBACK)/;

/** One process's databases: real SQLite files, whose writes can fail and stop. */
export class SqliteDisk {
  readonly #folder: string;
  readonly #dice: Dice;
  readonly #onStop: () => void;
  readonly #connections = new Set<SqliteConnection>();
  /** What survives a power cut where commits are not flushed: by path, as of the opening. */
  readonly #unflushed = new Map<string, Uint8Array>();
  #fault: DiskFault | undefined;
  #writes = 0;
  #stopped = false;

  /** `folder` is a real one; `onStop` is called when the disk stops in the middle of a write. */
  constructor(folder: string, dice: Dice, onStop: () => void) {
    this.#folder = folder;
    this.#dice = dice;
    this.#onStop = onStop;
  }

  holds(path: string): boolean {
    return path.startsWith(`${this.#folder}/`);
  }

  /** It has stopped in the middle of a write, and with it the process. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  fail(fault: DiskFault): void {
    this.#fault = fault;
    this.#writes = 0;
  }

  heal(): void {
    this.#fault = undefined;
  }

  /** The process is gone: what it had not committed is, too. `power`: all that is not flushed. */
  crash(power: boolean): void {
    this.#stopped = false;
    this.#fault = undefined;
    for (const connection of this.#connections) connection.close();
    this.#connections.clear();
    if (power) for (const [path, bytes] of this.#unflushed) writeDatabase(path, bytes);
    this.#unflushed.clear();
  }

  connect(path: string, options: ConnectionOptions): SqliteConnection {
    if (this.#stopped) throw new Error("the disk has stopped");
    const connection = connectBun(path, options);
    this.#connections.add(connection);
    return {
      exec: (sql) => {
        this.#before(sql, () => {});
        connection.exec(sql);
        if (/^PRAGMA synchronous/i.test(sql) && !/FULL|EXTRA/i.test(sql)) {
          this.#unflushed.set(path, readDatabase(path));
        }
      },
      prepare: (sql) => this.#statement(connection, sql),
      close: () => {
        if (this.#connections.delete(connection)) connection.close();
      },
    };
  }

  #statement(connection: SqliteConnection, sql: string): SqliteStatement {
    const statement = connection.prepare(sql);
    return {
      reader: statement.reader,
      iterate: (parameters) => statement.iterate(parameters),
      all: (parameters) => {
        this.#before(sql, () => statement.all(parameters), connection);
        return statement.all(parameters);
      },
      run: (parameters) => {
        this.#before(sql, () => statement.run(parameters), connection);
        return statement.run(parameters);
      },
    };
  }

  /** Throws where the disk fails; `effect` is the write, for a stop right behind it. */
  #before(sql: string, effect: () => void, connection?: SqliteConnection): void {
    if (this.#stopped) throw new Error("the disk has stopped");
    const fault = this.#fault;
    if (!fault || READS.test(sql) || this.#writes++ < fault.writes) return;
    if (fault.kind === "stop") {
      this.#stopped = true;
      if (ENDS.test(sql) && this.#dice.chance(0.5)) effect();
      this.#onStop();
      throw new Error("the disk has stopped");
    }
    if (this.#writes > fault.writes + fault.times) {
      this.#fault = undefined;
      return;
    }
    if (/^ROLLBACK/.test(sql)) return;
    // SQLite ends the transaction by itself then, or leaves that to the program.
    if (this.#dice.chance(0.3)) rollBack(connection);
    throw new Error("database or disk is full");
  }
}

function rollBack(connection: SqliteConnection | undefined): void {
  try {
    connection?.exec("ROLLBACK");
  } catch {
    // There was no transaction.
  }
}

/** A database with all that is committed, as the bytes of one file. */
export function readDatabase(path: string): Uint8Array {
  const database = new Database(path, { readonly: true });
  try {
    return database.serialize();
  } finally {
    database.close();
  }
}

/** Puts a database in the place of another, which nobody has open. */
export function writeDatabase(path: string, bytes: Uint8Array): void {
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  writeFileSync(path, bytes);
}
