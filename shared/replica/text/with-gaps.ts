/**
 * The items that are gone, together with the blank items between and directly beside them, which
 * stood there only because of them. `isGap`: whether an item is blank and belongs to one beside it.
 */
export function withGaps<Item>(
  items: readonly Item[],
  isGone: (item: Item) => boolean,
  isGap: (item: Item, beside: Item) => boolean,
): ReadonlySet<Item> {
  const gone = new Set(items.filter(isGone));
  if (gone.size === 0) return gone;
  for (const inOrder of [items, items.toReversed()]) {
    for (const [at, item] of inOrder.entries()) {
      const before = inOrder[at - 1];
      if (before !== undefined && gone.has(before) && isGap(item, before)) gone.add(item);
    }
  }
  return gone;
}
