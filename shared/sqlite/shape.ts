import { crc32 } from "node:zlib";
import { type Kysely, sql } from "kysely";

/** A database's structure, by names. */
export interface Shape {
  /**
   * What the program needs: tables, columns, keys and indices, in words that follow "it has no".
   */
  readonly parts: ReadonlySet<string>;
  /**
   * Triggers, and columns that have to be given: what would change or refuse the writes of a
   * program that does not know of it.
   */
  readonly demands: ReadonlySet<string>;
  /** The columns of each table. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
}

interface NamedThing {
  readonly type: string;
  readonly name: string;
  readonly isVirtual: number;
  readonly column: string | null;
  readonly key: number;
  readonly isNeeded: number;
}

/** Throws if a virtual table has lost its internal tables. */
export async function readShape<Tables>(db: Kysely<Tables>): Promise<Shape> {
  const { rows } = await sql<NamedThing>`
    select m.type, m.name, m.sql like 'create virtual %' as isVirtual, p.name as "column",
      p.pk as key, p."notnull" and p.dflt_value is null as isNeeded
    from sqlite_master m left join pragma_table_info(m.name) p on m.type = 'table'`.execute(db);
  const kept = rows.filter((row) => row.isVirtual === 1).map(({ name }) => `${name}_`);
  const parts = new Set<string>();
  const demands = new Set<string>();
  const columns = new Map<string, string[]>();
  for (const row of rows) {
    // The internal tables of SQLite and of virtual tables don't matter.
    if (row.type === "table" && row.name.startsWith("sqlite_")) continue;
    if (kept.some((prefix) => row.name.startsWith(prefix))) continue;
    addTo({ parts, demands, columns }, row);
  }
  return { parts, demands, columns };
}

interface OpenShape {
  readonly parts: Set<string>;
  readonly demands: Set<string>;
  readonly columns: Map<string, string[]>;
}

function addTo({ parts, demands, columns }: OpenShape, row: NamedThing): void {
  const { type, name, column, key, isNeeded } = row;
  if (type === "trigger") demands.add(`trigger ${name}`);
  else parts.add(`${type} ${name}`);
  if (column === null) return;
  columns.set(name, [...(columns.get(name) ?? []), column]);
  parts.add(`column ${column} of ${name}`);
  if (key > 0) parts.add(`key column ${column} of ${name}`);
  if (isNeeded === 1) demands.add(`column ${column} of ${name} that has to be given`);
}

/** Why a database of shape `found` can't be used as one of shape `expected`. */
export function misfitOf(found: Shape, expected: Shape): string | undefined {
  for (const part of expected.parts) if (!found.parts.has(part)) return `it has no ${part}`;
  for (const demand of found.demands) {
    if (!expected.demands.has(demand)) return `it has a ${demand}, which memsync did not make`;
  }
  return undefined;
}

/** Equal for databases of equal shape, in whatever order they were created. */
export function fingerprintOf({ parts, demands }: Shape): number {
  return crc32([...parts, "", ...demands].sort().join("\n"));
}
