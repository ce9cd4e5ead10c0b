import type { SqliteConnection, SqlValue } from "../../shared/sqlite/connection.ts";

/** A row by column, with its place in its table as `rowid_`. */
export type DamagedRow = Readonly<Record<string, SqlValue>> & { readonly rowid_: number };

/** What could be read of a table. */
export interface DamagedTable {
  /** In the order of the table. */
  readonly rows: readonly DamagedRow[];
  /** Whether nothing stood in the way. */
  readonly whole: boolean;
}

/** A table of which nothing could be read. */
export const UNREAD: DamagedTable = { rows: [], whole: false };

/**
 * Reads a table past its indices, from the front as far as that goes and then from the back, so
 * that one bad page costs its own rows alone where that can be. Never throws.
 */
export function readDamaged(connection: SqliteConnection, table: string): DamagedTable {
  const rows = new Map<number, DamagedRow>();
  const whole = take(connection, table, { order: "asc", rows });
  if (!whole) take(connection, table, { order: "desc", rows });
  const inOrder = [...rows.values()].sort((one, other) => one.rowid_ - other.rowid_);
  return { rows: inOrder, whole };
}

function take(
  connection: SqliteConnection,
  table: string,
  { order, rows }: { readonly order: "asc" | "desc"; readonly rows: Map<number, DamagedRow> },
): boolean {
  try {
    const sql = `select rowid as rowid_, * from ${table} not indexed order by rowid ${order}`;
    const found = connection.prepare(sql).iterate([]) as IterableIterator<DamagedRow>;
    for (const row of found) rows.set(row.rowid_, row);
    return true;
  } catch {
    return false;
  }
}

/** Lets SQLite read a file that is shorter than it says of itself, as far as it goes. */
export function allowShortFile(connection: SqliteConnection): void {
  try {
    connection.exec("PRAGMA writable_schema = ON");
  } catch {
    // Then nothing of it can be read, and every table comes out empty.
  }
}
