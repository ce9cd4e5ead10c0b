import type { JsonValue } from "../../json.ts";

/** Identifies the Yjs item of an entry, equally on every replica. */
export interface EntryId {
  readonly client: number;
  readonly clock: number;
}

/** What a root array contains: plain JSON, times in milliseconds since the Unix epoch. */
export interface StoredEntry {
  readonly key: string;
  readonly value: JsonValue;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A stored entry with the id of its Yjs item. */
export interface Entry extends StoredEntry {
  readonly id: EntryId;
}

/** What one transaction did to the entries of one key. */
export interface KeyChange {
  readonly added: Entry[];
  readonly removed: Entry[];
}

/**
 * The entries of each key, kept beside the document. Several entries of a key are concurrent
 * writes: the first is the winner, the others are its conflicts.
 */
export class EntryIndex {
  readonly #entries = new Map<string, readonly Entry[]>();

  get size(): number {
    return this.#entries.size;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  /** The entries of `key`, the winner first; empty if there are none. */
  get(key: string): readonly Entry[] {
    return this.#entries.get(key) ?? [];
  }

  change(key: string, { added, removed }: KeyChange): void {
    const entries = without(this.get(key), removed);
    for (const entry of added) entries.push(entry);
    if (entries.length > 1) entries.sort(winnerFirst);
    if (entries.length === 0) this.#entries.delete(key);
    else this.#entries.set(key, entries);
  }
}

/** Whether both identify the same item. */
export function sameId(one: EntryId, other: EntryId): boolean {
  return one.client === other.client && one.clock === other.clock;
}

/** Most keys have one entry: comparing it takes less time than making a set. */
function without(entries: readonly Entry[], removed: readonly Entry[]): Entry[] {
  if (removed.length === 0) return [...entries];
  if (entries.length * removed.length < 16) {
    return entries.filter(({ id }) => !removed.some((gone) => sameId(gone.id, id)));
  }
  const gone = new Set(removed.map(({ id }) => textOfId(id)));
  return entries.filter(({ id }) => !gone.has(textOfId(id)));
}

function textOfId({ client, clock }: EntryId): string {
  return `${client}:${clock}`;
}

/** The latest `updated_at` wins, then client id and clock: every replica decides equally. */
function winnerFirst(one: Entry, other: Entry): number {
  return (
    other.updated_at - one.updated_at ||
    other.id.client - one.id.client ||
    other.id.clock - one.id.clock
  );
}
