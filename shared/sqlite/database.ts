import { Kysely, SqliteDialect } from "kysely";
import { assert } from "../errors.ts";
import { atPath } from "../file-failures.ts";
import { prepareRows, type SqliteConnection } from "./connection.ts";
import { Direct, setDirect } from "./direct.ts";
import { isDamage } from "./failures.ts";
import { writeTransaction } from "./transaction.ts";

/**
 * An open database: `writer` for everything in a write transaction, `reader` for everything else. A
 * file has a connection for each, so that reads never wait for a commit; in memory both are the
 * same. Kysely runs one query or transaction at a time on each.
 */
export interface SqliteDatabase<Tables> {
  readonly writer: Kysely<Tables>;
  readonly reader: Kysely<Tables>;
  /** Runs `work` in one write transaction; see `writeTransaction`. */
  write<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /**
   * Changes whenever something was committed, by any process. As long as it is the same, `reader`
   * sees the same. Undefined in memory.
   */
  version(): number | undefined;
  /** Frees memory. What was read before is read from the file again. */
  rest(): void;
  close(): Promise<void>;
}

/** Which database to open. A missing file is created. */
export interface OpenOptions {
  /** `:memory:` or a path whose folder exists. */
  readonly path: string;
  /** What a database in memory begins as. */
  readonly content?: Uint8Array | undefined;
  /** Called with each error that shows that the file is damaged. The statement still fails. */
  readonly onDamage?: ((thrown: unknown) => void) | undefined;
}

/**
 * Opens a database for this process only. A commit is on the disk when it returns: write-ahead log
 * with `synchronous=FULL` (https://www.sqlite.org/pragma.html#pragma_synchronous).
 */
export async function openDatabase<Tables>(options: OpenOptions): Promise<SqliteDatabase<Tables>> {
  try {
    return await openBoth(options);
  } catch (thrown) {
    throw atPath(thrown, options.path);
  }
}

async function openBoth<Tables>(options: OpenOptions): Promise<SqliteDatabase<Tables>> {
  const writing = await openConnection(options.path, false, options.content);
  writing.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // Works only while the file is empty, and would be a write to one that is not. `returnFreePages`
  // relies on it.
  if (isEmpty(writing)) writing.exec("PRAGMA auto_vacuum = INCREMENTAL");
  writing.exec("PRAGMA journal_mode = WAL");
  writing.exec(`PRAGMA journal_size_limit = ${LOG_BYTES_KEPT}`);
  writing.exec("PRAGMA synchronous = FULL");
  writing.exec("PRAGMA foreign_keys = ON");
  const writer = kyselyOver<Tables>(writing, options.onDamage);
  if (options.path === ":memory:") {
    return {
      writer,
      reader: writer,
      write: (work) => writeTransaction(writer, work),
      version: () => undefined,
      rest: () => writing.exec(SHRINK),
      close: () => writer.destroy(),
    };
  }
  const reading = await openReading(options.path);
  const reader = kyselyOver<Tables>(reading, options.onDamage);
  return {
    writer,
    reader,
    write: (work) => writeTransaction(writer, work),
    version: () => versionOf(reading),
    rest() {
      for (const connection of [writing, reading]) connection.exec(SHRINK);
    },
    async close() {
      await reader.destroy();
      await writer.destroy();
    },
  };
}

/** See https://www.sqlite.org/pragma.html#pragma_shrink_memory. */
const SHRINK = "PRAGMA shrink_memory";

function isEmpty(connection: SqliteConnection): boolean {
  const [row] = prepareRows<{ page_count: number }>(connection, "PRAGMA page_count").all([]);
  return row?.page_count === 0;
}

/** Opens a file for reading that another process may be writing. */
export async function openReader<Tables>(path: string): Promise<Kysely<Tables>> {
  return kyselyOver<Tables>(await openReading(path), undefined);
}

async function openReading(path: string): Promise<SqliteConnection> {
  const reading = await openConnection(path, true);
  reading.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  return reading;
}

/** Counts other connections' commits. This one makes none. */
function versionOf(reading: SqliteConnection): number {
  const [row] = prepareRows<{ data_version: number }>(reading, "PRAGMA data_version").all([]);
  assert(row, "a database has a version");
  return row.data_version;
}

/** After a checkpoint that emptied it, the write-ahead log is cut to this size. */
const LOG_BYTES_KEPT = 4 * 1024 * 1024;

/** Another process may hold the write lock this long before a statement fails. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * The only function that creates a Kysely. It remembers the connection, so that transactions can
 * use it directly.
 */
export function kyselyOver<Tables>(
  connection: SqliteConnection,
  onDamage: OpenOptions["onDamage"],
): Kysely<Tables> {
  const onError = (thrown: unknown) => {
    if (isDamage(thrown)) onDamage?.(thrown);
  };
  const kysely = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: connection }),
    ...(onDamage && {
      log: (event) => {
        if (event.level === "error") onError(event.error);
      },
    }),
  });
  setDirect(kysely, new Direct(connection, onError));
  return kysely;
}

/** Opens a file with the runtime's own driver, without settings. */
export async function openConnection(
  path: string,
  readonly: boolean,
  content?: Uint8Array,
): Promise<SqliteConnection> {
  const runtime = process.versions.bun ? await import("./connect-bun.ts") : undefined;
  const { connect: open } = runtime ?? (await import("./connect-node.ts"));
  try {
    return namingPath(await open(path, { readonly, content }), path);
  } catch (thrown) {
    throw atPath(thrown, path);
  }
}

function namingPath(connection: SqliteConnection, path: string): SqliteConnection {
  const named = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (thrown) {
      throw atPath(thrown, path);
    }
  };
  return {
    prepare: (sql) => named(() => connection.prepare(sql)),
    exec: (sql) => named(() => connection.exec(sql)),
    close: () => connection.close(),
  };
}
