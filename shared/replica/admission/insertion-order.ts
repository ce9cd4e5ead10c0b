import * as Y from "yjs";
import type { Struct } from "./decode-update.ts";

/**
 * Yjs assumes that the character to the left of an insertion (its origin) comes before the one to
 * its right. If an update contradicts that, replicas get different texts.
 */
export type Order = "right" | "wrong" | "unknown";

/** A list's structures, with the position of each one's first character; tombstones count. */
type Positions = ReadonlyMap<unknown, number>;

/** Between which known characters a new insertion is. */
interface Bounds {
  readonly after: number;
  readonly before: number;
}

/** Checks the order of an update's insertions, one after the other. */
export class InsertionOrder {
  readonly #text: Y.Text;
  readonly #find: (id: Y.ID) => Struct | undefined;
  readonly #bounds = new Map<Struct, Bounds>();
  #positions: Positions | undefined;
  #length = 0;
  #reach = 0;

  /** `find` returns the structure with an id, from the document or the update. */
  constructor(text: Y.Text, find: (id: Y.ID) => Struct | undefined) {
    this.#text = text;
    this.#find = find;
  }

  /** How many items Yjs may pass at most while it searches for the places of the insertions. */
  get reach(): number {
    return this.#reach;
  }

  /**
   * To be called for each insertion after those that it refers to. "unknown": it is between two
   * new, concurrent ones. Only a trial can find their order.
   */
  visit(item: Y.Item, origin: Y.ID | null): Order {
    const left = origin && this.#at(origin);
    const right = item.rightOrigin && this.#at(item.rightOrigin);
    this.#positions ??= this.#positionsOfAll();
    const bounds = { after: left?.after ?? -1, before: right?.before ?? this.#length };
    const between = Math.max(bounds.before - bounds.after - 1, 0);
    this.#reach += Math.min(between, this.#positions.size) + this.#bounds.size;
    this.#bounds.set(item, bounds);
    if (!left || !right) return "right";
    if (left.isIntegrated && right.isIntegrated)
      return left.before < right.after ? "right" : "wrong";
    if (left.before <= right.after) return "right";
    return this.#areLinked(left.id, right.id) ? "right" : "unknown";
  }

  #at(id: Y.ID): Bounds & { readonly id: Y.ID; readonly isIntegrated: boolean } {
    const struct = this.#find(id);
    const bounds = struct && this.#bounds.get(struct);
    if (bounds) return { ...bounds, id, isIntegrated: false };
    this.#positions ??= this.#positionsOfAll();
    const start = this.#positions.get(struct) ?? 0;
    const position = start + id.clock - (struct?.id.clock ?? 0);
    return { after: position, before: position, id, isIntegrated: true };
  }

  /** Whether one of two neighbours was inserted beside the other. */
  #areLinked(left: Y.ID, right: Y.ID): boolean {
    const [leftItem, rightItem] = [this.#find(left), this.#find(right)];
    if (leftItem === rightItem) return left.clock < right.clock;
    const isFirst = rightItem instanceof Y.Item && rightItem.id.clock === right.clock;
    if (isFirst && rightItem.origin && Y.compareIDs(rightItem.origin, left)) return true;
    const isLast = leftItem instanceof Y.Item && Y.compareIDs(leftItem.lastId, left);
    return isLast && Y.compareIDs(leftItem.rightOrigin, right);
  }

  #positionsOfAll(): Positions {
    const positions = new Map<unknown, number>();
    for (let item = this.#text._start; item !== null; item = item.right) {
      positions.set(item, this.#length);
      this.#length += item.length;
    }
    return positions;
  }
}
