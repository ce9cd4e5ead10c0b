import { existsSync } from "node:fs";
import { type Kysely, sql } from "kysely";
import { AppError } from "../../shared/errors.ts";
import { fileAll } from "../../shared/replica/history/unfiled.ts";
import { noteAddedOf } from "../../shared/replica/search/unindexed.ts";
import { isPostgres, isPostgresAddress } from "../../shared/sqlite/dialects.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { World } from "../../shared/world.ts";
import type { HostTables } from "../stores/account-tables.ts";
import type { HostDatabase } from "../stores/host-database.ts";
import { openAnyDatabase } from "../stores/open-any.ts";
import { openHostStore } from "../stores/open-store.ts";
import { COPIED_TABLES, type CopiedTable, NUMBERED } from "./copied-tables.ts";
import { RowsDigest, rowsOf, writeRows } from "./table-rows.ts";

type Db = Kysely<HostTables>;

/** What was copied. */
export interface DatabaseCopy {
  readonly documents: number;
  readonly rows: number;
}

type Opened = HostDatabase & { close(): Promise<void> };

/**
 * Copies a host's database into an empty one of either kind, with every id, epoch and revision: all
 * of it or nothing. What was written is read again, and compared, before it is committed. A file
 * must not be served meanwhile; of a PostgreSQL it is one moment that is copied.
 *
 * ```
 * await copyDatabase({ from: "/data/memsync.db", to: "postgres://memsync@db/memsync", world });
 * ```
 */
export async function copyDatabase({
  from,
  to,
  world,
}: {
  readonly from: string;
  readonly to: string;
  readonly world: World;
}): Promise<DatabaseCopy> {
  if (!isPostgresAddress(from) && !existsSync(from)) throw refused(`there is no database ${from}`);
  const source = await openSource(from, world);
  try {
    // The commit may wait for a standby that is lost; what only reads waits for none.
    const target = isPostgresAddress(to)
      ? await openAnyDatabase(to, world)
      : await openFile(to, world);
    try {
      return await target.write(async (into) => {
        await unhurried(into);
        await refuseUsed(into);
        return await atOneMoment(source, (out) => copyAll(out, into));
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function openSource(place: string, world: World): Promise<Opened> {
  if (!isPostgresAddress(place)) return await openFile(place, world);
  const { openPostgresDatabase } = await import("../stores/open-postgres-store.ts");
  return await openPostgresDatabase(place, world);
}

/** Its lock is held until `close`, so nobody serves it meanwhile. */
async function openFile(path: string, world: World): Promise<Opened> {
  const { database, close } = await openHostStore(path, world);
  await database.write(async (db) => fileAll(narrowTables(db)));
  return { reader: database.reader, write: (work) => database.write(work), close };
}

async function refuseUsed(db: Db): Promise<void> {
  for (const { name } of COPIED_TABLES) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(db);
    if (rows.length === 0) continue;
    throw refused(`the database to copy into has ${name} already: name an empty one`);
  }
}

/** Runs `work` on one state of the source. A file is locked, so it does not change anyway. */
function atOneMoment<Result>(source: Opened, work: (db: Db) => Promise<Result>): Promise<Result> {
  if (!isPostgres(source.reader)) return work(source.reader);
  return source.write(async (db) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(db);
    await unhurried(db);
    return await work(db);
  });
}

/**
 * Allows long pauses: while one side is read, the other one's transaction does nothing, and nobody
 * waits for it.
 */
async function unhurried(db: Db): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
}

async function copyAll(from: Db, into: Db): Promise<DatabaseCopy> {
  let rows = 0;
  let documents = 0;
  for (const table of COPIED_TABLES) {
    const copied = await copyTable(from, into, table);
    rows += copied;
    if (table.name === "documents") documents = copied;
  }
  await goOnNumbering(from, into);
  if (!isPostgres(into)) await noteForSearch(into);
  return { documents, rows };
}

async function copyTable(from: Db, into: Db, table: CopiedTable): Promise<number> {
  const read = new RowsDigest();
  for await (const some of rowsOf(from, table)) {
    read.add(some);
    await writeRows(into, table.name, some);
  }
  const written = new RowsDigest();
  for await (const some of rowsOf(into, table)) written.add(some);
  if (read.value === written.value) return read.rows;
  throw refused(`${table.name} can't be copied as they are; nothing was written`);
}

/** The copy, too, must never give the number of a deleted document to another one. */
async function goOnNumbering(from: Db, into: Db): Promise<void> {
  for (const [table, column] of Object.entries(NUMBERED)) {
    const last = await lastNumber(from, table, column);
    if (last === 0) continue;
    if (isPostgres(into)) {
      await sql`select setval(pg_get_serial_sequence(${table}, ${column}), ${last})`.execute(into);
    } else if (table === "documents") {
      await sql`delete from sqlite_sequence where name = ${table}`.execute(into);
      await sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(into);
    }
  }
}

async function lastNumber(db: Db, table: string, column: string): Promise<number> {
  const highest = await sql<{ last: number | null }>`
    select max(${sql.ref(column)}) as last from ${sql.table(table)}`.execute(db);
  const given = isPostgres(db)
    ? await sql<{ last: number | null }>`
        select pg_sequence_last_value(pg_get_serial_sequence(${table}, ${column})) as last`.execute(
        db,
      )
    : await sql<{ last: number | null }>`
        select max(seq) as last from sqlite_sequence where name = ${table}`.execute(db);
  return Math.max(highest.rows[0]?.last ?? 0, given.rows[0]?.last ?? 0);
}

/** The full-text index of a file follows its rows. */
async function noteForSearch(db: Db): Promise<void> {
  const documents = await db.selectFrom("documents").select("id").execute();
  for (const { id } of documents) await noteAddedOf(narrowTables(db), id);
}

function refused(message: string): AppError {
  return new AppError("invalid_request", message);
}
