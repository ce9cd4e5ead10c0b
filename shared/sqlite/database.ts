import { Kysely, SqliteDialect } from "kysely";
import { assert } from "../errors.ts";
import type { SqliteConnection } from "./connection.ts";
import { Direct, setDirect } from "./direct.ts";
import { isDamage } from "./failures.ts";

/**
 * An open database: `writer` for everything inside a write transaction, `reader` for everything
 * else. A file has a connection for each, so that no read waits for a commit; in memory both are
 * the same one. Kysely runs one query or transaction at a time on each.
 */
export interface SqliteDatabase<Tables> {
  readonly writer: Kysely<Tables>;
  readonly reader: Kysely<Tables>;
  /**
   * Another number than before whenever something was committed since, by whatever process; so
   * where it is the same, `reader` sees the same. Undefined in memory, where nobody counts.
   */
  version(): number | undefined;
  /** Gives back what memory it can; what was read before is read from the file again. */
  rest(): void;
  close(): Promise<void>;
}

/** Which database to open; a missing file is made. */
export interface OpenOptions {
  /** `:memory:` or a path whose folder exists. */
  readonly path: string;
  /** Told of each statement that found the file to be damaged; the statement fails all the same. */
  readonly onDamage?: ((thrown: unknown) => void) | undefined;
}

/**
 * Opens a database of this process's own. A commit is on the disk when it returns:
 * write-ahead log with `synchronous=FULL` (https://www.sqlite.org/pragma.html#pragma_synchronous).
 */
export async function openDatabase<Tables>(options: OpenOptions): Promise<SqliteDatabase<Tables>> {
  const writing = await openConnection(options.path, false);
  writing.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  // Heeded while the file is empty only, and a write to one that is not; `returnFreePages` relies
  // on it.
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
  const [row] = connection.prepare("PRAGMA page_count").all([]) as { page_count: number }[];
  return row?.page_count === 0;
}

/** Opens a file that another process may be writing, for reading alone. */
export async function openReader<Tables>(path: string): Promise<Kysely<Tables>> {
  return kyselyOver<Tables>(await openReading(path), undefined);
}

async function openReading(path: string): Promise<SqliteConnection> {
  const reading = await openConnection(path, true);
  reading.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  return reading;
}

/** Counts others' commits, as this connection sees them: it makes none of its own. */
function versionOf(reading: SqliteConnection): number {
  const [row] = reading.prepare("PRAGMA data_version").all([]) as { data_version: number }[];
  assert(row, "a database has a version");
  return row.data_version;
}

/** The write-ahead log is cut to this when a checkpoint has emptied it. */
const LOG_BYTES_KEPT = 4 * 1024 * 1024;

/** How long another process may hold the write lock before a statement fails. */
const BUSY_TIMEOUT_MS = 5000;

/** The one way to a Kysely: it knows its connection, for transactions to run on it directly. */
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
export async function openConnection(path: string, readonly: boolean): Promise<SqliteConnection> {
  const runtime = process.versions.bun ? await import("./connect-bun.ts") : undefined;
  const { connect: open } = runtime ?? (await import("./connect-node.ts"));
  return await open(path, { readonly });
}
