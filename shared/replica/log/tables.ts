import type { Generated } from "kysely";
import type { AccountId, MemoryId } from "../../ids.ts";

/** The replica's part of a database. Times are milliseconds since the Unix epoch. */
export interface ReplicaTables {
  documents: DocumentsTable;
  updates: UpdatesTable;
  snapshots: SnapshotsTable;
  epochs: EpochsTable;
  texts: TextsTable;
  memories: MemoriesTable;
  unindexed: UnindexedTable;
  metadata: MetadataTable;
  revisions: RevisionsTable;
  unfiled: UnfiledTable;
  revision_packs: RevisionPacksTable;
  history_clock: HistoryClockTable;
  text_conflicts: TextConflictsTable;
}

interface DocumentsTable {
  id: Generated<number>;
  /** The document's owner: an account on the server, one constant on a developer's machine. */
  owner: AccountId;
  /** A project's id, `user/<user id>` or `global`. */
  name: string;
  /** Position of the newest row; 0 before the first. */
  seq: Generated<number>;
  created_at: number;
  /** When this replica got the newest row. */
  updated_at: number;
  last_synced_at: number | null;
  sync_count: Generated<number>;
}

/** The log. A row is what one commit added to its document. */
interface UpdatesTable {
  document_id: number;
  seq: number;
  epoch: string;
  /** `local`: written on this replica. `remote`: received by an exchange. */
  origin: "local" | "remote";
  /** Yjs update, v1. */
  payload: Uint8Array;
  /** CRC-32 of the payload. */
  checksum: number;
  /** What a machine's own change removed from the text; see `storedRemoved`. */
  removed: string | null;
  committed_at: number;
}

/** The whole document as of row `seq`. */
interface SnapshotsTable {
  document_id: number;
  seq: number;
  payload: Uint8Array;
  /** CRC-32 of the payload. */
  checksum: number;
  /** Size of the payload before compression; null if it is not compressed. */
  bytes: number | null;
  created_at: number;
}

/** Rows from `first_seq` up to the next epoch's first row belong to `epoch`. */
interface EpochsTable {
  document_id: number;
  first_seq: number;
  epoch: string;
}

interface TextsTable {
  document_id: number;
  /** The description document as it is sent and written to files. */
  content: string;
  /** When this replica got the row that changed it last. */
  updated_at: number;
  /** The machines that wrote the last change; null where that is unknown. */
  machine: string | null;
}

interface MemoriesTable {
  row_id: Generated<number>;
  document_id: number;
  key: string;
  memory_id: MemoryId;
  value: string;
  created_at: number;
  /** When its author wrote it, by the author's clock. */
  updated_at: number;
  /** JSON `[[client, clock], …]`: the entries of this key, the winner first, then its deletions. */
  entry_ids: string;
}

/**
 * A row of a memory whose present text is not in the full-text index yet, with the text that the
 * index has.
 */
interface UnindexedTable {
  row_id: number;
  /** Of the memory that has the row now, or had it last. */
  document_id: number;
  /** Null, as the value: the index has nothing. */
  key: string | null;
  value: string | null;
}

interface MetadataTable {
  document_id: number;
  key: string;
  /** JSON. */
  value: string;
}

/** One row: what sweeps know of the wall clock, in milliseconds since the Unix epoch. */
interface HistoryClockTable {
  id: number;
  trusted_at: number;
  /** Since when the clock differs much from before; null while it does not. */
  doubted_at: number | null;
  /** Id of the newest revision at the last sweep. */
  last_revision: number;
}

/** A value that was replaced or deleted. */
interface RevisionsTable {
  id: Generated<number>;
  document_id: number;
  kind: "memory" | "text" | "save";
  /** The memory's key; empty for a text. */
  key: string;
  value: string;
  written_at: number;
  replaced_at: number;
  /** The machine that wrote it; null where that is not known. */
  machine: string | null;
}

/** A revision that is not among those of its key yet; it is newer than all of them. */
interface UnfiledTable extends RevisionsTable {}

/** Successive revisions of a key, older than its rows and its later packs. */
interface RevisionPacksTable {
  id: Generated<number>;
  document_id: number;
  kind: "memory" | "text" | "save";
  key: string;
  /** How many revisions it contains, newest first; see `packRevisions`. */
  count: number;
  /** The earliest of their `replaced_at`. */
  oldest_at: number;
  /** Size of the payload before compression. */
  bytes: number;
  payload: Uint8Array;
  /** CRC-32 of the payload. */
  checksum: number;
}

/** Conflicts of texts as 0.1.0 stored them. The daemon moves them into their documents. */
interface TextConflictsTable {
  id: Generated<number>;
  document_id: number;
  mine: string;
  theirs: string;
  found_at: number;
}
