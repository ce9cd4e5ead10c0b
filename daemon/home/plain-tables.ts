import type { Generated } from "kysely";

/** What is stored about a service without the replica exchange; see `plain-store.ts`. */
export interface PlainTables {
  plain_documents: PlainDocumentsTable;
  plain_items: PlainItemsTable;
  plain_journal: PlainJournalTable;
  plain_refused: PlainRefusedTable;
}

interface PlainDocumentsTable {
  document_id: number;
  /** `PlainText` as JSON. */
  text: string;
  /** JSON `[[name, hash, at], …]`; see `SentValue`. */
  sent: string;
  /** How many differences from the service the last reading left. */
  outstanding: number;
  /**
   * When the service last turned out to have lost data, in milliseconds; null where never, or long
   * ago.
   */
  lost_at: number | null;
  /** Since when the service shows nothing that was agreed, in milliseconds; null while it does. */
  blank_since: number | null;
  /** 1: the service said that the project does not exist, and was not read since. */
  missing: Generated<number>;
}

/** An item as the service last had it, as far as this machine knows. */
interface PlainItemsTable {
  document_id: number;
  kind: "memories" | "metadata";
  key: string;
  /** JSON. */
  value: string;
  memory_id: string | null;
  /** The service's own text. */
  created_at: string | null;
  seen: number;
}

/** A call that must not be made twice, recorded before it is made. */
interface PlainJournalTable {
  id: Generated<number>;
  document_id: number;
  kind: "create" | "delete";
  key: string;
  /** The content to create; null for a deletion. */
  content: string | null;
  /** The memory to delete: for a creation, after it succeeded. */
  memory_id: string | null;
}

/** An item that the service refuses. Counts until the item changes. */
interface PlainRefusedTable {
  document_id: number;
  kind: "text" | "memories" | "metadata" | "deletion";
  key: string;
  /** SHA-256 of the refused value. */
  hash: string;
  /** `Reason` as JSON. */
  reason: string;
}
