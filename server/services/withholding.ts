import type { Kysely } from "kysely";
import type { AccountId, MemoryId } from "../../shared/ids.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import type { MemoryFilter, MemoryRow } from "../stores/memory-store.ts";
import type { ServiceTables } from "../stores/tables.ts";
import type { PlainWrite } from "./plain-write.ts";

type Db = Kysely<ServiceTables>;
type Context = WriteContext<ServiceTables>;

/** What is shown of a memory instead of what its document holds. */
export type WithheldMemory = Omit<MemoryRow, "value"> & {
  /** Undefined: the memory is not shown. */
  readonly value: string | undefined;
};

/**
 * A host's way to keep writes out of its documents and to show them to its own user all the same.
 * What comes by replica exchange is never withheld. A server has none.
 */
export interface Withholding {
  /** Takes out of a write what is withheld, or put into the document here. Gives the rest. */
  sift(context: Context, open: OpenDocument, write: PlainWrite): Promise<PlainWrite>;
  /** Deletes a memory that is withheld, and what it was to replace. False: there is none. */
  remove(context: Context, account: AccountId, id: MemoryId): Promise<boolean>;
  memories(db: Db, filter: MemoryFilter): Promise<readonly WithheldMemory[]>;
  /** The text shown of a project; undefined when it is the document's. */
  text(db: Db, account: AccountId, document: string): Promise<string | undefined>;
}

/** Memories as their host's user sees them, in the order of lists. */
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
