import { equalJson, type JsonValue } from "../../shared/json.ts";

/** One item as the service shows it. */
export interface TheirItem {
  readonly value: JsonValue;
  /** The id by which the service deletes it; null where it gives none. */
  readonly id: string | null;
  /** As the service wrote it, unparsed. */
  readonly createdAt: string | null;
}

/** An item that the service held when last known. */
export interface AgreedItem extends TheirItem {
  /** A reading has shown it, so its absence from a later one means something. */
  readonly seen: boolean;
}

/** The three sides of a merge: what was agreed last (`base`), what is here and what is there. */
export interface ItemSides {
  readonly base: ReadonlyMap<string, AgreedItem>;
  readonly mine: ReadonlyMap<string, JsonValue>;
  readonly theirs: ReadonlyMap<string, TheirItem>;
  /** `theirs` is everything that the service holds, so an absent item is not there. */
  readonly complete: boolean;
  /** An absent item is not there, but nobody deleted it deliberately. */
  readonly putBack: boolean;
}

/**
 * What is agreed after `theirs` was read, if it shows a value that was sent there, however late:
 * that value was ours, even if it has changed here since, and is nobody else's write. The same
 * holds for a removal, which is sent as null.
 */
export function withSent(
  base: ReadonlyMap<string, AgreedItem>,
  theirs: ReadonlyMap<string, TheirItem>,
  isSent: (key: string, value: JsonValue) => boolean,
): ReadonlyMap<string, AgreedItem> {
  const agreed = new Map(base);
  for (const key of base.keys()) if (!theirs.has(key) && isSent(key, null)) agreed.delete(key);
  for (const [key, item] of theirs) {
    if (isSent(key, item.value)) agreed.set(key, { ...item, seen: true });
  }
  return agreed;
}

/** A key with the value that it gets. */
export interface MergedItem {
  readonly key: string;
  readonly value: JsonValue;
}

/** What to do on both sides so that they hold the same. Each key is in one list at most. */
export interface MergedItems {
  /** To write here. */
  readonly take: readonly MergedItem[];
  /** To delete here. */
  readonly drop: readonly string[];
  /** To write there. */
  readonly send: readonly MergedItem[];
  /** To delete there. */
  readonly remove: readonly { readonly key: string; readonly id: string | null }[];
  /** Deleted there, and written here meanwhile; they are in `send`, too. */
  readonly undone: readonly string[];
  /** What is agreed now: the items that the service holds. */
  readonly base: ReadonlyMap<string, AgreedItem>;
  /** So much is absent that the service must have lost it. `send` contains what is left here. */
  readonly lost: boolean;
}

/** If at most this many items are absent, they were deleted, whatever part of all they are. */
export const DELETED_AT_ONCE = 3;

/**
 * Merges item by item. A write beats a concurrent deletion. Of two concurrent writes the service's
 * wins. An absent item was deleted there; but if more than `DELETED_AT_ONCE` items and half of the
 * agreed ones are absent, the service has lost data and gets it again.
 *
 * ```
 * mergeItems({ base, mine, theirs, complete: true, putBack: false }).send; // what to write there
 * ```
 */
export function mergeItems(sides: ItemSides): MergedItems {
  const { base, mine, theirs, putBack } = sides;
  const lost = sides.complete && !putBack && hasLost(sides);
  const merged: Lists = { take: [], drop: [], send: [], remove: [], undone: [] };
  const agreed = new Map<string, AgreedItem>();
  for (const key of new Set([...base.keys(), ...mine.keys(), ...theirs.keys()])) {
    const known = base.get(key);
    const shown = theirs.get(key);
    const isKept = known && !shown && !(sides.complete && known.seen);
    const there = shown ? { ...shown, seen: true } : isKept ? known : undefined;
    if (there) agreed.set(key, there);
    const forgotten = there === undefined && (lost || putBack);
    decide(merged, key, { base: forgotten ? undefined : known?.value, mine: mine.get(key), there });
  }
  return { ...merged, base: agreed, lost };
}

/** Whether too much is absent of what was seen there and was not deleted here. */
function hasLost({ base, mine, theirs }: ItemSides): boolean {
  const expected = [...base].filter(([key, { seen }]) => seen && mine.has(key));
  const missing = expected.filter(([key]) => !theirs.has(key));
  return missing.length > DELETED_AT_ONCE && missing.length * 2 >= expected.length;
}

type Lists = {
  -readonly [List in "take" | "drop" | "send" | "remove" | "undone"]: MergedItems[List][number][];
};

function decide(
  { take, drop, send, remove, undone }: Lists,
  key: string,
  {
    base,
    mine,
    there,
  }: {
    readonly base: JsonValue | undefined;
    readonly mine: JsonValue | undefined;
    readonly there: AgreedItem | undefined;
  },
): void {
  if (same(mine, there?.value)) return;
  if (same(there?.value, base)) {
    if (mine !== undefined) send.push({ key, value: mine });
    else if (there) remove.push({ key, id: there.id });
  } else if (there) {
    take.push({ key, value: there.value });
  } else if (mine !== undefined && same(mine, base)) {
    drop.push(key);
  } else if (mine !== undefined) {
    send.push({ key, value: mine });
    if (base !== undefined) undone.push(key);
  }
}

function same(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return equalJson(one, other);
}
