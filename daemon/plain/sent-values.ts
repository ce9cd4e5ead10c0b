import type { JsonValue } from "../../shared/json.ts";
import { hashOfValue, itemName, type RefusedItem, type SentValue } from "./plain-store.ts";
import type { SendItem } from "./refusals.ts";

/** A call that was given up may still take effect this long after it was made. */
const LATE_MS_MAX = 2 * 60_000;

/** Finds whether a value of this name was sent. */
export function sentIndex(sent: readonly SentValue[]): (name: string, value: JsonValue) => boolean {
  const hashes = new Map<string, Set<string>>();
  for (const { name, hash } of sent) {
    const known = hashes.get(name);
    if (known) known.add(hash);
    else hashes.set(name, new Set([hash]));
  }
  return (name, value) => hashes.get(name)?.has(hashOfValue(value)) ?? false;
}

/**
 * The sent values when `items` are sent, too; of the former ones those that may still take effect.
 */
export function sentWith(
  former: readonly SentValue[],
  items: readonly SendItem[],
  { now, isShown }: { readonly now: number; readonly isShown: (sent: SentValue) => boolean },
): readonly SentValue[] {
  const late = new Map<string, SentValue>();
  for (const each of former) {
    const isOver = each.at === 0 || Math.abs(now - each.at) > LATE_MS_MAX || isShown(each);
    if (!isOver) late.set(`${each.name}\n${each.hash}`, each);
  }
  const fresh = items.map(({ kind, key, value }) => {
    return { name: itemName(kind, key), hash: hashOfValue(value), at: now };
  });
  return [...late.values(), ...fresh];
}

/** Marks the values of the last call that were answered: they won't take effect later. */
export function withAnswered(
  sent: readonly SentValue[],
  items: readonly Pick<RefusedItem, "kind" | "key">[],
): readonly SentValue[] {
  const last = new Map(sent.map(({ name }, at) => [name, at]));
  const answered = new Set(items.map(({ kind, key }) => last.get(itemName(kind, key))));
  return sent.map((each, at) => (answered.has(at) ? { ...each, at: 0 } : each));
}
