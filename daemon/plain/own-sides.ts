import type { AgreedItem, TheirItem } from "./merge-items.ts";
import type { JournaledWrite } from "./plain-store.ts";
import type { ReadMemory } from "./reading.ts";
import type { Removal } from "./refusals.ts";

/** What is known here of one layer. Its memories have no keys at the service. */
export interface OwnKnown {
  readonly base: ReadonlyMap<string, AgreedItem>;
  readonly journal: readonly JournaledWrite[];
  /** The service was read before. */
  readonly contacted: boolean;
  /** It shows all that it holds. */
  readonly complete: boolean;
  /** What this machine holds: key to value. */
  readonly mine: ReadonlyMap<string, unknown>;
}

/** A layer's memories under the keys that they have here. */
export interface OwnSides {
  readonly theirs: ReadonlyMap<string, TheirItem>;
  /** Memories that others of ours replaced, and that are still to be deleted there. */
  readonly superseded: readonly Removal[];
  /** Recorded calls that need no more attention. */
  readonly over: readonly JournaledWrite[];
}

/**
 * Gives each memory that the service shows its key. The first of these that applies: the key under
 * which it was agreed; that of a recorded creation that may have succeeded; that of an equal memory
 * that is no longer there under its former id; at first contact, that of an equal memory here; else
 * its id, because the interface has no keys.
 */
export function keyOwnMemories(shown: readonly ReadMemory[], known: OwnKnown): OwnSides {
  const keys = new Map<string, string>();
  for (const [key, { id }] of known.base) if (id !== null) keys.set(id, key);
  const replaced = new Map<string, string>();
  for (const entry of known.journal) {
    if (entry.kind === "delete" && !keys.has(entry.memoryId)) {
      replaced.set(entry.memoryId, entry.key);
    }
  }
  adopt(shown, known, { keys, replaced });
  const theirs = new Map<string, TheirItem>();
  const superseded: Removal[] = [];
  for (const { id, content, createdAt } of shown) {
    const former = replaced.get(id);
    if (former !== undefined) superseded.push({ key: former, id });
    else theirs.set(keys.get(id) ?? id, { value: content, id, createdAt });
  }
  const listed = new Set(shown.map(({ id }) => id));
  const isOver = (entry: JournaledWrite) => entry.kind === "create" || !listed.has(entry.memoryId);
  return { theirs, superseded, over: known.journal.filter(isOver) };
}

/**
 * Finds memories whose creation was never confirmed, and memories with new ids. Of equal ones the
 * oldest is ours.
 */
function adopt(
  shown: readonly ReadMemory[],
  { journal, contacted, complete, mine, base }: OwnKnown,
  {
    keys,
    replaced,
  }: { readonly keys: Map<string, string>; readonly replaced: Map<string, string> },
): void {
  const find = (content: unknown) =>
    shown.find((each) => each.content === content && !keys.has(each.id) && !replaced.has(each.id));
  for (const entry of journal) {
    if (entry.kind !== "create") continue;
    const found = find(entry.content);
    if (!found) continue;
    if (entry.replacesId !== null) {
      keys.delete(entry.replacesId);
      replaced.set(entry.replacesId, entry.key);
    }
    keys.set(found.id, entry.key);
  }
  const placed = new Set(shown.map(({ id }) => keys.get(id)));
  for (const [key, { value }] of complete ? base : []) {
    const found = !placed.has(key) && mine.has(key) ? find(value) : undefined;
    if (found) keys.set(found.id, key);
  }
  if (contacted) return;
  const listed = new Set(shown.map(({ id }) => id));
  for (const [key, value] of mine) {
    const found = base.has(key) || listed.has(key) ? undefined : find(value);
    if (found && !mine.has(found.id)) keys.set(found.id, key);
  }
}
