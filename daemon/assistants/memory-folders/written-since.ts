import type { Kysely } from "kysely";
import type { AccountId } from "../../../shared/ids.ts";
import { type EntryId, sameId } from "../../../shared/replica/document/entry-index.ts";
import { findMemoryFile } from "../../home/memory-files.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { readLocalMemories } from "../../reading/local-memories.ts";

/** A file of a memory folder, and the memory that it is. */
interface AskedMemory {
  readonly folder: string;
  readonly name: string;
  readonly document: string;
  readonly account: AccountId;
  readonly key: string;
}

/** Whether a memory has entries that its file has not shown; then it is not deleted with the file. */
export async function isWrittenSince(
  db: Kysely<DaemonTables>,
  { folder, name, document, account, key }: AskedMemory,
): Promise<boolean> {
  const memories = await readLocalMemories(db, document, account);
  const memory = memories.find((each) => each.key === key);
  if (!memory) return false;
  const file = await findMemoryFile(db, folder, name);
  return memory.in_inbox || !areShown(memory.seen, file?.seen ?? []);
}

/** Whether a file has shown all of these entries. */
export function areShown(entries: readonly EntryId[], seen: readonly EntryId[]): boolean {
  return entries.every((id) => seen.some((each) => sameId(each, id)));
}
