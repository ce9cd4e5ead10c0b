import { type Kysely, sql } from "kysely";

/** How many pages are returned at once. Writes wait a few milliseconds for that. */
const PAGES_AT_ONCE = 512;

/** A file that can't return single pages is rewritten once this many are free. */
const FREE_PAGES_MIN = 1024;
const FREE_FRACTION_MIN = 0.25;

const NONE = 0;
const INCREMENTAL = 2;

/**
 * Returns the file's free pages to the disk, piece by piece, and writes the write-ahead log back
 * into the file. `writer` must be outside of a transaction. A file of 0.1.0, which was not created
 * for this, is rewritten once when a good part of it is free.
 */
export async function returnFreePages<Tables>(writer: Kysely<Tables>): Promise<void> {
  const mode = await pragma(writer, "auto_vacuum");
  let free = await pragma(writer, "freelist_count");
  if (mode === NONE && free >= FREE_PAGES_MIN) {
    const pages = await pragma(writer, "page_count");
    if (free >= pages * FREE_FRACTION_MIN) await rewrite(writer);
  }
  while (mode === INCREMENTAL && free > 0) {
    await sql.raw(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`).execute(writer);
    const left = await pragma(writer, "freelist_count");
    if (left >= free) break;
    free = left;
  }
  await sql.raw("PRAGMA wal_checkpoint(TRUNCATE)").execute(writer);
}

/** `VACUUM` applies the mode that was requested before. */
async function rewrite<Tables>(writer: Kysely<Tables>): Promise<void> {
  await writer.connection().execute(async (db) => {
    await sql.raw(`PRAGMA auto_vacuum = ${INCREMENTAL}`).execute(db);
    await sql.raw("VACUUM").execute(db);
  });
}

async function pragma<Tables>(writer: Kysely<Tables>, name: string): Promise<number> {
  const { rows } = await sql.raw<Record<string, number>>(`PRAGMA ${name}`).execute(writer);
  return Number(rows[0]?.[name] ?? 0);
}
