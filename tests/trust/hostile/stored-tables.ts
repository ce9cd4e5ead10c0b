import { Database } from "bun:sqlite";
import pg from "pg";

/** A server's database, as somebody else reads it. */
export interface StoredTables {
  rows<Row>(sql: string): Promise<Row[]>;
  /** Reads the revisions that are in no pack, filed by their keys or not yet. */
  readonly looseRevisions: string;
  close(): Promise<void>;
}

const FILED =
  "select document_id, kind, key, value, written_at, replaced_at, machine from revisions";

/** The tables of a database's file. */
export function tablesOfFile(path: string): StoredTables {
  const database = new Database(path, { readonly: true });
  return {
    // Whoever writes the SQL knows its rows.
    rows: async <Row>(sql: string) => database.query(sql).all() as Row[],
    looseRevisions: `${FILED} union all ${FILED.replace("revisions", "unfiled")}`,
    close: async () => database.close(),
  };
}

/** Those of a PostgreSQL. */
export function tablesOfPostgres(address: string): StoredTables {
  const asNumber = (oid: number) => oid === pg.types.builtins.INT8;
  const types: pg.CustomTypesConfig = {
    getTypeParser: ((oid: number, format?: "text") =>
      // The driver's type lists every overload; this is one function for all.
      asNumber(oid) ? Number : pg.types.getTypeParser(oid, format)) as never,
  };
  const pool = new pg.Pool({ connectionString: address, max: 1, types });
  return {
    // As above.
    rows: async <Row>(sql: string) => (await pool.query(sql)).rows as Row[],
    looseRevisions: FILED,
    close: () => pool.end(),
  };
}
