import type { Kysely } from "kysely";
import type { AccountId, MemoryId } from "../../shared/ids.ts";
import type { IndexedText } from "../../shared/replica/search/full-text.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { MemoryFilter } from "../stores/memory-rows.ts";
import type { MemoryRow } from "../stores/memory-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import type { PlainWrite } from "./plain-write.ts";

type Db = Kysely<ServiceTables>;
type Context = WriteContext<ServiceTables>;

/** What is shown of a memory in place of its document's value. */
export type WithheldMemory = Omit<MemoryRow, "value"> & {
  /** Undefined: the memory is not shown. */
  readonly value: string | undefined;
};

/**
 * Keeps writes out of a host's documents, and shows them to the host's own user anyway. Replica
 * exchanges are never withheld. A server has no such thing.
 */
export interface Withholding {
  /** Removes from a write what it withholds or writes itself. Returns the rest. */
  sift(context: Context, open: OpenDocument, write: PlainWrite): Promise<PlainWrite>;
  /** Deletes a withheld memory, and what it was to replace. False: it is not withheld. */
  remove(context: Context, account: AccountId, id: MemoryId): Promise<boolean>;
  memories(db: Db, filter: MemoryFilter): Promise<readonly WithheldMemory[]>;
  /** What a search looks through of a withheld memory. */
  searched(memory: IndexedText): Promise<IndexedText>;
  /** The text to show for a project; undefined for the document's own. */
  text(db: Db, account: AccountId, document: string): Promise<string | undefined>;
}

/** Memories as the host's user sees them, in list order. */
export function overlaid(
  rows: readonly MemoryRow[],
  withheld: readonly WithheldMemory[],
): MemoryRow[] {
  if (withheld.length === 0) return [...rows];
  const placeOf = ({ documentName, key }: { documentName: string; key: string }) =>
    JSON.stringify([documentName, key]);
  const shown = new Map(rows.map((row) => [placeOf(row), row]));
  for (const { value, ...memory } of withheld) {
    const place = placeOf(memory);
    const row = shown.get(place);
    if (value === undefined) shown.delete(place);
    else shown.set(place, { ...memory, ...row, value, updatedAt: memory.updatedAt });
  }
  return [...shown.values()].sort(
    (one, other) => one.createdAt - other.createdAt || one.rowId - other.rowId,
  );
}
