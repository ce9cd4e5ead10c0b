import type { AccountId, MemoryId } from "../../shared/ids.ts";

/** The documents that a list, search or count of memories covers. */
export interface MemoryFilter {
  /** Whose documents. */
  readonly account: AccountId;
  /** Names of the documents to look in. */
  readonly documents: readonly string[];
}

/** A memory's row with the name of its document, as queries return it. */
export interface MemoryColumns {
  name: string;
  row_id: number;
  memory_id: MemoryId;
  key: string;
  value: string;
  created_at: number;
  updated_at: number;
}
