import { shapeMadeBy } from "../../shared/sqlite/misfit.ts";
import type { Shape } from "../../shared/sqlite/shape.ts";
import { daemonMigrations } from "../home/migrations.ts";
import type { DamagedTable } from "./read-damaged.ts";

/** The columns that matter, for tables whose rows are not copied as they are. */
const LOOKED_AT: Readonly<Record<string, readonly string[]>> = {
  documents: ["id", "owner", "name", "seq"],
  updates: ["document_id", "seq", "payload", "checksum"],
  snapshots: ["document_id", "seq", "payload", "checksum", "bytes"],
  memories: ["document_id", "key", "value", "updated_at", "entry_ids"],
  texts: ["document_id", "content", "updated_at"],
};

/**
 * The columns of each table without which its rows would mean something else: a write without its
 * value would be a deletion. `steps`: the table of migrations that were made in the database. If it
 * can't be read, the answer is unknown; if it makes no sense, today's columns count.
 */
export async function neededColumns(steps: DamagedTable): Promise<(table: string) => string[]> {
  const names = new Set(steps.rows.map(({ name }) => name));
  const isTold = steps.whole && names.size > 0;
  const done = isTold ? daemonMigrations.filter(({ name }) => names.has(name)) : [];
  const shape = isTold ? await shapeMadeBy(done).catch(presentShape) : undefined;
  return (table) => {
    if (!shape) return [];
    const columns = [...(shape.columns.get(table) ?? [])];
    const looked = LOOKED_AT[table];
    return looked ? columns.filter((column) => looked.includes(column)) : columns;
  };
}

function presentShape(): Promise<Shape> {
  return shapeMadeBy(daemonMigrations);
}

/** Whether a table's rows have these columns. */
export function isReadable({ rows: [row] }: DamagedTable, needed: readonly string[]): boolean {
  return row === undefined || needed.every((column) => column in row);
}
