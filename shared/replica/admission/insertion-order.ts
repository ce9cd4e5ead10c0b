import * as Y from "yjs";
import type { Struct } from "./decode-update.ts";

/**
 * Yjs takes it for granted that the character on the left of an insertion (its origin) stands left
 * of the one on its right. Where an update says otherwise, replicas end up with different texts.
 */
export type Order = "right" | "wrong" | "unknown";

/** A list's structures with the position of each one's first character, tombstones counted. */
type Positions = ReadonlyMap<unknown, number>;

/** Where an insertion that the document does not hold stands among what it holds. */
interface Bounds {
  readonly after: number;
  readonly before: number;
}

/** Tells for the insertions of an update, one after the other, whether their order is right. */
export class InsertionOrder {
  readonly #text: Y.Text;
  readonly #find: (id: Y.ID) => Struct | undefined;
  readonly #bounds = new Map<Struct, Bounds>();
  #positions: Positions | undefined;

  /** `find` gives the structure with an id, of the document or of the update. */
  constructor(text: Y.Text, find: (id: Y.ID) => Struct | undefined) {
    this.#text = text;
    this.#find = find;
  }

  /**
   * To be called for each insertion after those that it refers to. "unknown": it stands between
   * two that were concurrent and are both new; only a trial can tell their order.
   */
  visit(item: Y.Item, origin: Y.ID | null): Order {
    const left = origin && this.#at(origin);
    const right = item.rightOrigin && this.#at(item.rightOrigin);
    this.#bounds.set(item, { after: left?.after ?? -1, before: right?.before ?? Infinity });
    if (!left || !right) return "right";
    if (left.held && right.held) return left.before < right.after ? "right" : "wrong";
    if (left.before <= right.after) return "right";
    return this.#areLinked(left.id, right.id) ? "right" : "unknown";
  }

  #at(id: Y.ID): Bounds & { readonly id: Y.ID; readonly held: boolean } {
    const struct = this.#find(id);
    const bounds = struct && this.#bounds.get(struct);
    if (bounds) return { ...bounds, id, held: false };
    this.#positions ??= positionsOf(this.#text);
    const start = this.#positions.get(struct) ?? 0;
    const position = start + id.clock - (struct?.id.clock ?? 0);
    return { after: position, before: position, id, held: true };
  }

  /** Whether one of two neighbours was put beside the other. */
  #areLinked(left: Y.ID, right: Y.ID): boolean {
    const [leftItem, rightItem] = [this.#find(left), this.#find(right)];
    if (leftItem === rightItem) return left.clock < right.clock;
    const isFirst = rightItem instanceof Y.Item && rightItem.id.clock === right.clock;
    if (isFirst && rightItem.origin && Y.compareIDs(rightItem.origin, left)) return true;
    const isLast = leftItem instanceof Y.Item && Y.compareIDs(leftItem.lastId, left);
    return isLast && Y.compareIDs(leftItem.rightOrigin, right);
  }
}

function positionsOf(text: Y.Text): Positions {
  const positions = new Map<unknown, number>();
  let position = 0;
  for (let item = text._start; item !== null; item = item.right) {
    positions.set(item, position);
    position += item.length;
  }
  return positions;
}
