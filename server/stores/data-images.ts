import { type Kysely, type RawBuilder, sql } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { fileAll } from "../../shared/replica/history/unfiled.ts";
import { noteAddedOf } from "../../shared/replica/search/unindexed.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { HostTables } from "./account-tables.ts";
import { OF_DOCUMENTS } from "./document-parts.ts";

type Db = Kysely<HostTables>;

/** Parts of a document with an id of their own, which somebody else may have by now. */
const RENUMBERED: Readonly<Record<string, string>> = {
  memories: "row_id",
  revisions: "id",
  revision_packs: "id",
  text_conflicts: "id",
};

/** What an account has besides documents. */
const OF_ACCOUNT = ["sessions", "connections", "current_projects", "kept_answers"] as const;

/**
 * Keeps what an account has stored now, or all accounts, under an unused number. It is kept in
 * temporary tables, so it is gone with the process.
 */
export async function keepImage(db: Db, image: number, owner?: AccountId): Promise<void> {
  fileAll(narrowTables(db));
  const documents = sql`select * from documents ${ownedBy("owner", owner)}`;
  await keep(db, nameOf(image, "documents"), documents);
  const ids = sql`(select id from ${sql.id("temp", nameOf(image, "documents"))})`;
  for (const part of OF_DOCUMENTS) {
    const rows = sql`select * from ${sql.table(part)} where document_id in ${ids}`;
    await keep(db, nameOf(image, part), rows);
  }
  for (const table of OF_ACCOUNT) {
    const rows = sql`select * from ${sql.table(table)} ${ownedBy("account", owner)}`;
    await keep(db, nameOf(image, table), rows);
  }
}

/** Puts back what was kept. There must be nothing of these accounts now. */
export async function putBackImage(db: Db, image: number): Promise<void> {
  await copyBack(db, image, "documents");
  for (const table of [...OF_DOCUMENTS, ...OF_ACCOUNT]) await copyBack(db, image, table);
  const ids = sql`(select id from ${sql.id("temp", nameOf(image, "documents"))})`;
  const { rows } = await sql<{ id: number }>`select id from ${ids}`.execute(db);
  for (const { id } of rows) await noteAddedOf(narrowTables(db), id);
}

/** Forgets what was kept under a number. */
export async function dropImage(db: Db, image: number): Promise<void> {
  for (const table of ["documents", ...OF_DOCUMENTS, ...OF_ACCOUNT]) {
    await sql`drop table if exists ${sql.id("temp", nameOf(image, table))}`.execute(db);
  }
}

/** The accounts whose documents or other belongings an image has. */
export async function ownersInImage(db: Db, image: number): Promise<AccountId[]> {
  const owners = new Set<AccountId>();
  for (const [table, column] of [
    ["documents", "owner"],
    ...OF_ACCOUNT.map((each) => [each, "account"]),
  ] as const) {
    const from = sql.id("temp", nameOf(image, table ?? ""));
    const rows = await sql<{ owner: AccountId }>`
      select distinct ${sql.ref(column ?? "")} as owner from ${from}`.execute(db);
    for (const { owner } of rows.rows) owners.add(owner);
  }
  return [...owners];
}

function nameOf(image: number, table: string): string {
  return `image_${image}_${table}`;
}

function ownedBy(column: string, owner: AccountId | undefined): RawBuilder<unknown> {
  return owner === undefined ? sql`` : sql`where ${sql.ref(column)} = ${owner}`;
}

/** SQLite takes no parameters in `create table … as`, so the rows follow the table. */
async function keep(db: Db, name: string, rows: RawBuilder<unknown>): Promise<void> {
  const [, table = ""] = /^image_\d+_(.*)$/.exec(name) ?? [];
  const kept = sql.id("temp", name);
  await sql`create table ${kept} as select * from ${sql.table(table)} where false`.execute(db);
  await sql`insert into ${kept} ${rows}`.execute(db);
}

async function copyBack(db: Db, image: number, table: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from pragma_table_info(${table}) order by cid`.execute(db);
  const columns = rows.filter(({ name }) => name !== RENUMBERED[table]);
  const names = sql.join(columns.map(({ name }) => sql.ref(name)));
  await sql`insert into ${sql.table(table)} (${names})
    select ${names} from ${sql.id("temp", nameOf(image, table))}`.execute(db);
}
