import { isObject, type JsonObject } from "../../json.ts";
import type { ReplicaDocument } from "./document.ts";
import { type Entry, type EntryId, sameId } from "./entry-index.ts";
import { REMOVED_PREFIX, removedKey } from "./own-metadata.ts";

/** A document keeps this many deletions that contradict nothing. Older ones go first. */
const DELETIONS_MAX = 500;

/** Where a memory is that was moved. The deletion that it left tells of that. */
export interface MovedTo {
  /** Its document now: a project's id, `user` or `global`. */
  readonly to: string;
  /**
   * When it began there, in milliseconds since the Unix epoch. It identifies the memory among those
   * of its key.
   */
  readonly at: number;
  /** When it began where it was before, by which a memory that was moved twice is found. */
  readonly from?: number | undefined;
}

/** What a deletion of a memory is about. */
export interface MemoryRemoval {
  readonly key: string;
  /** When it was deleted, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** The entries that its author saw; if left out, those that are visible now. */
  readonly seen?: readonly EntryId[] | undefined;
  /** It was moved. */
  readonly movedTo?: MovedTo | undefined;
  /** Its author is not this machine, and wrote into no document. */
  readonly elsewhere?: boolean;
}

/**
 * Deletes a memory, and records that. A write that had not seen the deletion stands, and so does
 * the record: both together are a conflict, on every replica. A write that has seen the deletion
 * deletes the record. So does another deletion, which is recorded in its place. A move is recorded
 * even where somebody else has deleted the memory meanwhile: only so both are told. False: there
 * was nothing to delete.
 */
export function removeMemory(
  document: ReplicaDocument,
  { key, now, seen, movedTo, elsewhere = false }: MemoryRemoval,
): boolean {
  const entries = document.memories.get(key);
  const told = document.deletionsOf(key).filter(({ id }) => !seen || isAmong(id, seen));
  const isAgain = seen !== undefined && told.length > 0;
  if (seen?.length === 0 || (entries.length === 0 && !movedTo && !isAgain)) return false;
  const gone = entries.filter(({ id }) => !seen || isAmong(id, seen));
  document.change("local", () => {
    document.deleteEntry("memories", key, seen);
    const value = movedTo ? moveValue(movedTo, gone) : elsewhere ? { elsewhere } : {};
    // The deletion is later than what it has seen, whatever the clock says, as any write is.
    const at = Math.max(now, ...gone.map((each) => each.updated_at));
    recordDeletion(document, { key, now: at, value, told });
  });
  forgetSurplus(document);
  return true;
}

/** Records that somebody else deleted a memory that was written here meanwhile. */
export function noteForeignDeletion(document: ReplicaDocument, key: string, now: number): void {
  recordDeletion(document, { key, now, value: { elsewhere: true }, told: [] });
}

/** Whether this record was made by the machine that deleted the memory. */
export function isByItsAuthor({ value }: Entry): boolean {
  return !(isObject(value) && value.elsewhere === true);
}

/** Where a memory was moved to, as the deletion says that it left; undefined: it was deleted. */
export function movedToOf({ value }: Pick<Entry, "value">): MovedTo | undefined {
  const { to, at, from } = isObject(value) ? value : {};
  if (typeof to !== "string" || typeof at !== "number") return undefined;
  return { to, at, ...(typeof from === "number" && { from }) };
}

/** Whether deletions that had not seen each other say different things of a memory. */
export function disagree(deletions: readonly Pick<Entry, "value">[]): boolean {
  return new Set(deletions.map((each) => movedToOf(each)?.to)).size > 1;
}

function moveValue({ to, at, from }: MovedTo, gone: readonly Entry[]): JsonObject {
  const begun = gone.length > 0 ? Math.min(...gone.map((each) => each.created_at)) : from;
  return { to, at, ...(begun !== undefined && { from: begun }) };
}

function recordDeletion(
  document: ReplicaDocument,
  {
    key,
    now,
    value,
    told,
  }: {
    readonly key: string;
    readonly now: number;
    readonly value: JsonObject;
    readonly told: readonly Entry[];
  },
): void {
  const seen = told.map(({ id }) => id);
  document.setEntry("metadata", REMOVED_PREFIX + key, { value, now, seen });
}

/**
 * Dismisses what lost against a memory's value: the losing entries among `seen`, and the deletions
 * among them. Where a deletion is, or the value itself, the value is written anew. So it stays, and
 * the deletion is a conflict again, if another machine deletes the memory after all at the same
 * time. True: it was written anew.
 */
export function dismissLosers(
  document: ReplicaDocument,
  { key, now, seen }: MemoryRemoval & { readonly seen: readonly EntryId[] },
): boolean {
  const [winner, ...others] = document.memories.get(key);
  if (!winner) return false;
  const equal = others.filter(({ value }) => value === winner.value);
  const lost = others.filter((each) => !equal.includes(each) && isAmong(each.id, seen));
  if (lost.length > 0) {
    document.deleteEntry(
      "memories",
      key,
      lost.map(({ id }) => id),
    );
  }
  const told = document.deletionsOf(key).filter(({ id }) => isAmong(id, seen));
  const standing = [winner, ...equal];
  if (told.length === 0 && !standing.some(({ id }) => isAmong(id, seen))) return false;
  const replaced = [...standing, ...told].map(({ id }) => id);
  return document.setEntry("memories", key, { value: winner.value, now, seen: replaced });
}

/** What a write stands against, or another deletion, stays until somebody settles it. */
function forgetSurplus(document: ReplicaDocument): void {
  const { memories, metadata } = document;
  const keys = [...metadata.keys()].filter((key) => {
    const removed = removedKey(key);
    if (removed === undefined || memories.get(removed).length > 0) return false;
    return !disagree(metadata.get(key));
  });
  if (keys.length <= DELETIONS_MAX) return;
  const time = (key: string) => metadata.get(key)[0]?.updated_at ?? 0;
  const latestFirst = keys.sort((one, other) => time(other) - time(one));
  document.deleteEntries("metadata", latestFirst.slice(DELETIONS_MAX));
}

function isAmong(id: EntryId, ids: readonly EntryId[]): boolean {
  return ids.some((each) => sameId(each, id));
}
