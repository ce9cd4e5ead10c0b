import type { Generated } from "kysely";

/** What is kept of a service without the replica exchange; see `plain-store.ts`. */
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
  /** JSON `[[name, hash, at], …]`, which `SentValue` explains. */
  sent: string;
  /** Differences from the service that were left after the last reading. */
  outstanding: number;
  /** When the service was last found to have lost data, in milliseconds; null for never lately. */
  lost_at: number | null;
  /** Since when it shows nothing of what was agreed, in milliseconds; null when it does. */
  blank_since: number | null;
  /** 1: it said that the project is not there, and was not read since. */
  missing: Generated<number>;
}

/** An item as the service was last known to hold it. */
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

/** A call that is not idempotent, written down before it is made. */
interface PlainJournalTable {
  id: Generated<number>;
  document_id: number;
  kind: "create" | "delete";
  key: string;
  /** What a creation sends; null for a deletion. */
  content: string | null;
  /** What a deletion deletes, and what goes once a creation is through. */
  memory_id: string | null;
}

/** An item that this service refuses, as long as it is the same. */
interface PlainRefusedTable {
  document_id: number;
  kind: "text" | "memories" | "metadata" | "deletion";
  key: string;
  /** SHA-256 of what was refused. */
  hash: string;
  /** `Reason` as JSON. */
  reason: string;
}
