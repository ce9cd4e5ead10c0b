import { crc32 } from "node:zlib";
import { prepareRows, type SqliteConnection } from "../../sqlite/connection.ts";

interface Part {
  readonly document_id: number;
  readonly place: number;
  readonly payload: Uint8Array;
  readonly checksum: number;
}

/** The tables with checksums: which column they cover, and its name for people. */
const CHECKED = [
  { table: "updates", place: "seq", name: "row" },
  { table: "snapshots", place: "seq", name: "row" },
  { table: "revision_packs", place: "id", name: "pack of its history" },
] as const;

/**
 * Which row of a log, snapshot or pack of a history is no longer what was written, which SQLite
 * can't know; undefined when all of them are. Reads all of them, and throws what SQLite throws.
 */
export function findDamagedPart(connection: SqliteConnection): string | undefined {
  for (const { table, place, name } of CHECKED) {
    if (!hasTable(connection, table)) continue;
    const sql = `select document_id, ${place} as place, payload, checksum from ${table}`;
    for (const part of prepareRows<Part>(connection, sql).iterate([])) {
      if (crc32(part.payload) === part.checksum) continue;
      return `document ${part.document_id} is damaged at ${name} ${part.place}`;
    }
  }
  return undefined;
}

function hasTable(connection: SqliteConnection, table: string): boolean {
  const sql = "select 1 from sqlite_master where type = 'table' and name = ?";
  return connection.prepare(sql).all([table]).length > 0;
}
