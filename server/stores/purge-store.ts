import type { Kysely } from "kysely";
import type { AccountId } from "../../shared/ids.ts";
import { dropUnfiled } from "../../shared/replica/history/unfiled.ts";
import { keepIndexedOf } from "../../shared/replica/search/unindexed.ts";
import { narrowTables } from "../../shared/sqlite/narrow-tables.ts";
import type { HostTables } from "./account-tables.ts";
import { OF_DOCUMENTS } from "./document-parts.ts";

type Db = Kysely<HostTables>;

/** The documents of an account; with `name`, that of one user's memories. */
export async function listDocuments(db: Db, account: AccountId, name?: string): Promise<number[]> {
  const rows = await db
    .selectFrom("documents")
    .select("id")
    .where("owner", "=", account)
    .$if(name !== undefined, (query) => query.where("name", "=", name ?? ""))
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Deletes a document with its log, rows and history. Durable with its transaction's commit. The id
 * is never used again, so that a process with the document in memory can't write into another one:
 * its write fails.
 */
export async function deleteDocument(db: Db, id: number): Promise<void> {
  await keepIndexedOf(narrowTables(db), id);
  await dropUnfiled(narrowTables(db), id);
  for (const part of OF_DOCUMENTS)
    await db.deleteFrom(part).where("document_id", "=", id).execute();
  await db.deleteFrom("documents").where("id", "=", id).execute();
}

/** Deletes what the services keep of an account besides its documents. */
export async function deleteBelongings(db: Db, account: AccountId): Promise<void> {
  for (const table of ["sessions", "connections", "current_projects", "kept_answers"] as const) {
    await db.deleteFrom(table).where("account", "=", account).execute();
  }
}

/** Deletes the rest of an account, then the account. */
export async function deleteAccount(db: Db, account: AccountId): Promise<void> {
  await deleteBelongings(db, account);
  await db.deleteFrom("request_counts").where("account", "=", account).execute();
  await db.deleteFrom("users").where("account_id", "=", account).execute();
  await db.deleteFrom("accounts").where("id", "=", account).execute();
}
