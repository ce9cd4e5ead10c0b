import { OF_DOCUMENTS } from "../stores/document-parts.ts";

/** A table that a copy has, with the columns of its key. */
export interface CopiedTable {
  readonly name: string;
  readonly keys: readonly string[];
}

const KEYS_OF_PARTS: Readonly<Record<(typeof OF_DOCUMENTS)[number], readonly string[]>> = {
  updates: ["document_id", "seq"],
  snapshots: ["document_id"],
  epochs: ["document_id", "first_seq"],
  texts: ["document_id"],
  memories: ["row_id"],
  metadata: ["document_id", "key"],
  revisions: ["id"],
  revision_packs: ["id"],
  text_conflicts: ["id"],
};

/** Everything that a host keeps, each table after those that it refers to. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: "documents", keys: ["id"] },
  ...OF_DOCUMENTS.map((name) => ({ name, keys: KEYS_OF_PARTS[name] })),
  { name: "history_clock", keys: ["id"] },
  { name: "accounts", keys: ["id"] },
  { name: "users", keys: ["id"] },
  { name: "tokens", keys: ["id"] },
  { name: "removed_tokens", keys: ["id"] },
  { name: "request_counts", keys: ["account"] },
  { name: "sessions", keys: ["account", "id"] },
  { name: "connections", keys: ["account", "project_a", "project_b"] },
  { name: "current_projects", keys: ["token_id"] },
  { name: "kept_answers", keys: ["account", "who", "path", "key"] },
];

/** Tables that number their rows themselves, and the column with the number. */
export const NUMBERED: Readonly<Record<string, string>> = {
  documents: "id",
  memories: "row_id",
  revisions: "id",
  revision_packs: "id",
  text_conflicts: "id",
};
