import * as Y from "yjs";
import { inOneTurn } from "../../steps.ts";
import { decodeUpdate, referencesOf, type Struct } from "./decode-update.ts";
import { visitInOrder } from "./visit-in-order.ts";

/** After which character insertions belong, by their keys; null for the text's beginning. */
export type Places = ReadonlyMap<string, Y.ID | null>;

/** The key of the insertion that begins with this character. */
export function placeKey(client: number, clock: number): string {
  return `${client}:${clock}`;
}

/**
 * Applies an admitted update like `Y.applyUpdate`, with the same result, but does not search for
 * the places that are known: Yjs does not search where an item's neighbours are each other's.
 */
export function applyPlaced(
  ydoc: Y.Doc,
  update: Uint8Array,
  { places, origin }: { readonly places: Places; readonly origin: string },
): void {
  const { store } = ydoc;
  // Without their known parts, because Yjs searches for the places of what is cut off those.
  const { clients } = decodeUpdate(Y.diffUpdate(update, Y.encodeStateVector(ydoc)));
  const integratedOf = (client: number) => Y.getState(store, client);
  Y.transact(
    ydoc,
    (transaction) => {
      const visit = (struct: Struct) => {
        if (struct instanceof Y.Item) integrate(transaction, struct, places);
        return 1;
      };
      inOneTurn(visitInOrder(clients, integratedOf, { referencesOf, visit }));
      // Only deletions are left of it.
      Y.applyUpdate(ydoc, update, origin);
    },
    origin,
    false,
  );
}

function integrate(transaction: Y.Transaction, item: Y.Item, places: Places): void {
  const { doc } = transaction;
  const named: unknown = item.parent;
  if (typeof named === "string") item.parent = doc.get(named);
  item.getMissing(transaction, doc.store);
  const { parent } = item;
  const place = places.get(placeKey(item.id.client, item.id.clock));
  if (place === null && parent instanceof Y.AbstractType) {
    item.left = null;
    item.right = parent._start;
  } else if (place) {
    const left = Y.getItem(doc.store, place);
    if (left instanceof Y.Item && Y.compareIDs(left.lastId, place)) {
      item.left = left;
      item.right = left.right;
    }
  }
  item.integrate(transaction, 0);
}
