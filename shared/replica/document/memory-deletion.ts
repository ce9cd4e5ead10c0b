import { isObject } from "../../json.ts";
import type { ReplicaDocument } from "./document.ts";
import { type Entry, type EntryId, sameId } from "./entry-index.ts";
import { REMOVED_PREFIX, removedKey } from "./own-metadata.ts";

/** A document says of this many deletions which no write stands against; older ones go first. */
const DELETIONS_MAX = 500;

/** What a deletion of a memory is about. */
export interface MemoryRemoval {
  readonly key: string;
  /** When it was deleted, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** The entries that its author saw; if left out, those that are visible now. */
  readonly seen?: readonly EntryId[] | undefined;
  /** Its author is not this machine, and wrote into no document. */
  readonly elsewhere?: boolean;
}

/**
 * Deletes a memory, and records that. A write that had not seen the deletion stands, and so does
 * the record: both together are a conflict, on every replica. A write that has seen the deletion
 * deletes the record. False: there was nothing to delete.
 */
export function removeMemory(
  document: ReplicaDocument,
  { key, now, seen, elsewhere = false }: MemoryRemoval,
): boolean {
  const entries = document.memories.get(key);
  if (entries.length === 0 || seen?.length === 0) return false;
  const told = document.deletionsOf(key).filter(({ id }) => !seen || isAmong(id, seen));
  document.change("local", () => {
    document.deleteEntry("memories", key, seen);
    recordDeletion(document, { key, now, elsewhere, told });
  });
  forgetSurplus(document);
  return true;
}

/** Records that somebody else deleted a memory that was written here meanwhile. */
export function noteForeignDeletion(document: ReplicaDocument, key: string, now: number): void {
  recordDeletion(document, { key, now, elsewhere: true, told: [] });
}

/** Whether this record was made by the machine that deleted the memory. */
export function isByItsAuthor({ value }: Entry): boolean {
  return !(isObject(value) && value.elsewhere === true);
}

function recordDeletion(
  document: ReplicaDocument,
  {
    key,
    now,
    elsewhere,
    told,
  }: {
    readonly key: string;
    readonly now: number;
    readonly elsewhere: boolean;
    readonly told: readonly Entry[];
  },
): void {
  const value = elsewhere ? { elsewhere } : {};
  const seen = told.map(({ id }) => id);
  document.setEntry("metadata", REMOVED_PREFIX + key, { value, now, seen });
}

/**
 * Dismisses what lost against a memory's value: the losing entries among `seen`, and the deletions
 * among them. Where a deletion is, the value is written anew. So it stays, and the deletion is a
 * conflict again, if another machine deletes the memory after all at the same time. True: it was
 * written anew.
 */
export function dismissLosers(
  document: ReplicaDocument,
  { key, now, seen }: MemoryRemoval & { readonly seen: readonly EntryId[] },
): boolean {
  document.deleteEntry("memories", key, seen);
  const told = document.deletionsOf(key).filter(({ id }) => isAmong(id, seen));
  const [winner, ...others] = document.memories.get(key);
  if (told.length === 0 || !winner) return false;
  const equal = others.filter(({ value }) => value === winner.value);
  const replaced = [winner, ...equal, ...told].map(({ id }) => id);
  return document.setEntry("memories", key, { value: winner.value, now, seen: replaced });
}

/** What a write stands against is a conflict, and stays until somebody settles it. */
function forgetSurplus(document: ReplicaDocument): void {
  const { memories, metadata } = document;
  const keys = [...metadata.keys()].filter((key) => {
    const removed = removedKey(key);
    return removed !== undefined && memories.get(removed).length === 0;
  });
  if (keys.length <= DELETIONS_MAX) return;
  const time = (key: string) => metadata.get(key)[0]?.updated_at ?? 0;
  const latestFirst = keys.sort((one, other) => time(other) - time(one));
  document.deleteEntries("metadata", latestFirst.slice(DELETIONS_MAX));
}

function isAmong(id: EntryId, ids: readonly EntryId[]): boolean {
  return ids.some((each) => sameId(each, id));
}
