import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { HostTables } from "./account-tables.ts";
import { countProjects } from "./project-store.ts";

type Db = Kysely<HostTables>;

/** The accounts that have stored anything, in order. */
export async function listOwners(db: Db): Promise<AccountId[]> {
  const owners = new Set<AccountId>();
  const documents = await db.selectFrom("documents").select("owner").distinct().execute();
  for (const { owner } of documents) owners.add(owner);
  for (const table of ["sessions", "connections", "current_projects", "kept_answers"] as const) {
    const rows = await db.selectFrom(table).select("account").distinct().execute();
    for (const { account } of rows) owners.add(account);
  }
  return [...owners].sort();
}

/** How much an account has: memories of every layer, and projects. */
export async function countDataOf(
  db: Db,
  account: AccountId,
): Promise<{ readonly memories: number; readonly projects: number }> {
  const { count } = await db
    .selectFrom("memories")
    .innerJoin("documents", "documents.id", "memories.document_id")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("owner", "=", account)
    .executeTakeFirstOrThrow();
  const projects = await countProjects(narrowTables(db), { account, among: null });
  return { memories: Number(count), projects };
}
