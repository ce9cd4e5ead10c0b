import type { AccountId } from "../../../shared/ids.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import type { HostTables } from "../../stores/account-tables.ts";
import { countDataOf, listOwners } from "../../stores/owned-data.ts";
import { deleteBelongings, deleteDocument, listDocuments } from "../../stores/purge-store.ts";

/** What a reset has deleted. */
export interface ClearedData {
  readonly memories: number;
  readonly projects: number;
}

/**
 * Deletes everything that an account has stored, or all accounts without one, within a write. What
 * they write next has positions that no client has seen.
 */
export async function deleteData(
  context: WriteContext<HostTables>,
  only: AccountId | undefined,
): Promise<ClearedData> {
  const { db } = context;
  const cleared = { memories: 0, projects: 0 };
  for (const account of only === undefined ? await listOwners(db) : [only]) {
    const { memories, projects } = await countDataOf(db, account);
    cleared.memories += memories;
    cleared.projects += projects;
    for (const id of await listDocuments(db, account)) await deleteDocument(db, id);
    await deleteBelongings(db, account);
    context.reread(account);
  }
  return cleared;
}
