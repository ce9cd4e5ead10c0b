import type { ReplicaDocument } from "./document.ts";
import { type EntryId, sameId } from "./entry-index.ts";
import { REMOVED_PREFIX } from "./own-metadata.ts";

/** A document says of this many deletions which no write stands against; older ones go first. */
const DELETIONS_MAX = 500;

/** What a deletion of a memory is about. */
export interface MemoryRemoval {
  readonly key: string;
  /** When it was deleted, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** The entries that its author saw; if left out, those that are visible now. */
  readonly seen?: readonly EntryId[] | undefined;
}

/**
 * Deletes a memory, and records that. A write that had not seen the deletion stands, and so does
 * the record: both together are a conflict, on every replica. A write that has seen the deletion
 * deletes the record. False: there was nothing to delete.
 */
export function removeMemory(
  document: ReplicaDocument,
  { key, now, seen }: MemoryRemoval,
): boolean {
  const entries = document.memories.get(key);
  const isSeen = (id: EntryId) => !seen || seen.some((each) => sameId(each, id));
  if (entries.length === 0 || seen?.length === 0) return false;
  const told = document.deletionsOf(key).filter(({ id }) => isSeen(id));
  document.change("local", () => {
    document.deleteEntry("memories", key, seen);
    const said = { value: {}, now, seen: told.map(({ id }) => id) };
    document.setEntry("metadata", REMOVED_PREFIX + key, said);
  });
  forgetSurplus(document);
  return true;
}

/** What a write stands against is a conflict, and stays until somebody settles it. */
function forgetSurplus(document: ReplicaDocument): void {
  const { memories, metadata } = document;
  const keys = [...metadata.keys()].filter((key) => {
    if (!key.startsWith(REMOVED_PREFIX)) return false;
    return memories.get(key.slice(REMOVED_PREFIX.length)).length === 0;
  });
  if (keys.length <= DELETIONS_MAX) return;
  const time = (key: string) => metadata.get(key)[0]?.updated_at ?? 0;
  const latestFirst = keys.sort((one, other) => time(other) - time(one));
  document.deleteEntries("metadata", latestFirst.slice(DELETIONS_MAX));
}
