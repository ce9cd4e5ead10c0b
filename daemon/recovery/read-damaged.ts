import {
  prepareRows,
  type SqliteConnection,
  type SqlValue,
} from "../../shared/sqlite/connection.ts";

/** A row by column, with its row id as `rowid_`. */
export type DamagedRow = Readonly<Record<string, SqlValue>> & { readonly rowid_: number };

/** What could be read of a table. */
export interface DamagedTable {
  /** In the order of the table. */
  readonly rows: readonly DamagedRow[];
  /** Whether everything could be read. */
  readonly whole: boolean;
}

/** A table of which nothing could be read. */
export const UNREAD: DamagedTable = { rows: [], whole: false };

/**
 * Reads a table without its indices, from the front until an error and then from the back, so that
 * a damaged page costs as few other rows as possible. Never throws.
 */
export function readDamaged(connection: SqliteConnection, table: string): DamagedTable {
  const rows = new Map<number, DamagedRow>();
  const whole = readRows(connection, table, { order: "asc", rows });
  if (!whole) readRows(connection, table, { order: "desc", rows });
  const inOrder = [...rows.values()].sort((one, other) => one.rowid_ - other.rowid_);
  return { rows: inOrder, whole };
}

function readRows(
  connection: SqliteConnection,
  table: string,
  { order, rows }: { readonly order: "asc" | "desc"; readonly rows: Map<number, DamagedRow> },
): boolean {
  try {
    const sql = `select rowid as rowid_, * from ${table} not indexed order by rowid ${order}`;
    const found = prepareRows<DamagedRow>(connection, sql).iterate([]);
    for (const row of found) rows.set(row.rowid_, row);
    return true;
  } catch {
    return false;
  }
}

/** Makes SQLite read a file that is shorter than its header says. */
export function allowShortFile(connection: SqliteConnection): void {
  try {
    connection.exec("PRAGMA writable_schema = ON");
  } catch {
    // Then nothing can be read, and every table is empty.
  }
}
