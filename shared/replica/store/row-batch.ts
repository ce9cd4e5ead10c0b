import type { MemoryId } from "../../ids.ts";
import type { Revision } from "../history/revisions.ts";
import type { NewRow } from "../log/log-rows.ts";

/** The row of a memory as it was. */
export interface FormerRow {
  readonly row_id: number;
  readonly key: string;
  readonly value: string;
  readonly created_at: number;
}

/** The row of a memory as it is to be. */
export interface NewMemory {
  readonly documentId: number;
  readonly key: string;
  readonly memoryId: MemoryId;
  readonly value: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly entryIds: string;
}

/** Undefined `after`: the memory is gone. */
interface ReplacedRow {
  readonly before: FormerRow;
  readonly after: NewMemory | undefined;
}

/** What a change adds to the rows that are derived from its document. */
export interface DerivedRows {
  /** Replaced values, oldest first. */
  readonly revisions: readonly Revision[];
  readonly replacedMemories: readonly ReplacedRow[];
  /** In the order in which lists show them. */
  readonly addedMemories: readonly NewMemory[];
  /** By key, as JSON; undefined for an entry that is gone. */
  readonly metadata: ReadonlyMap<string, string | undefined>;
  /** Undefined: it did not change. */
  readonly text: { readonly content: string; readonly machine: string | null } | undefined;
}

/**
 * All that one flush of a document writes; nothing is left to be read or worked out. It is only
 * right for the rows as they were when it was made, that is, for the `head` that the document had
 * then.
 */
export interface RowBatch {
  readonly documentId: number;
  readonly now: number;
  readonly log: readonly NewRow[];
  readonly derived: DerivedRows;
}
