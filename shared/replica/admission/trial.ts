import * as Y from "yjs";
import { ITEMS_PER_STEP, type Steps } from "../../steps.ts";
import { type DecodedUpdate, referencesOf, type Struct } from "./decode-update.ts";
import { visitInOrder } from "./visit-in-order.ts";

/**
 * How many concurrent insertions Yjs may pass while it searches for places. So many take a quarter
 * of a second.
 */
export const SEARCH_STEPS_MAX = 2_000_000;

/**
 * Applies an update to a copy of a document, one structure after the other. Returns what is wrong
 * with it; undefined for a sound one. Consumes the decoded structures. Finds what can't be known in
 * advance: insertions that come before their left neighbour, and insertions made so that Yjs's
 * quadratic search for their places takes minutes.
 */
export function* problemOfTrial(
  { store }: Y.Doc,
  snapshot: Uint8Array,
  { update, textRoot }: { readonly update: DecodedUpdate; readonly textRoot: string },
): Steps<string | undefined> {
  const copy = new Y.Doc();
  Y.applyUpdate(copy, snapshot);
  const text = copy.getText(textRoot);
  const integrated = (client: number) => Y.getState(store, client);
  let steps = 0;
  let visit = (_: Struct) => {};
  const walk = visitInOrder(update.clients, integrated, {
    referencesOf,
    visit: (struct) => visit(struct),
  });
  for (let isDone = false; !isDone; ) {
    // A transaction can't be left open between two turns, so each step has one of its own.
    copy.transact((transaction) => {
      visit = (struct) => {
        if (steps <= SEARCH_STEPS_MAX) steps += integrate(transaction, struct);
      };
      isDone = walk.next().done === true;
    });
    if (!isDone) yield;
  }
  if (steps > SEARCH_STEPS_MAX) return "its insertions are too many at one place";
  return (yield* isInOrder(text, copy.store))
    ? undefined
    : "an insertion stands before what is on its left";
}

/** Returns how many steps the search for its place took. */
function integrate(transaction: Y.Transaction, struct: Struct): number {
  if (!(struct instanceof Y.Item)) return 0;
  const { doc } = transaction;
  const offset = Y.getState(doc.store, struct.id.client) - struct.id.clock;
  if (offset >= struct.length) return 0;
  const parent: unknown = struct.parent;
  if (typeof parent === "string") struct.parent = doc.get(parent);
  struct.getMissing(transaction, doc.store);
  const steps = searchSteps(struct, doc.store);
  struct.integrate(transaction, offset);
  return steps;
}

/** The search of Yjs's `Item.integrate`, with a counter. */
function searchSteps(item: Y.Item, store: Y.Doc["store"]): number {
  const { parent, left, right } = item;
  if (!(parent instanceof Y.AbstractType)) return 0;
  const conflicting = new Set<unknown>();
  const passed = new Set<unknown>();
  let steps = 0;
  for (let other = left ? left.right : parent._start; other && other !== right; ) {
    steps += 1;
    passed.add(other);
    conflicting.add(other);
    const origin = other.origin && Y.getItem(store, other.origin);
    if (Y.compareIDs(item.origin, other.origin)) {
      if (other.id.client < item.id.client) conflicting.clear();
      else if (Y.compareIDs(item.rightOrigin, other.rightOrigin)) break;
    } else if (origin && passed.has(origin)) {
      if (!conflicting.has(origin)) conflicting.clear();
    } else break;
    other = other.right;
  }
  return steps;
}

/** Whether Yjs has placed every insertion between its neighbours. */
function* isInOrder(text: Y.Text, store: Y.Doc["store"]): Steps<boolean> {
  const starts = new Map<unknown, number>();
  let length = 0;
  for (let item = text._start; item !== null; item = item.right) {
    starts.set(item, length);
    length += item.length;
    if (starts.size % ITEMS_PER_STEP === 0) yield;
  }
  const positionOf = (id: Y.ID) => {
    const struct = Y.getItem(store, id);
    return (starts.get(struct) ?? Number.NaN) + id.clock - struct.id.clock;
  };
  let looked = 0;
  for (let item = text._start; item !== null; item = item.right) {
    looked += 1;
    if (looked % ITEMS_PER_STEP === 0) yield;
    const { origin, rightOrigin } = item;
    if (origin && rightOrigin && !(positionOf(origin) < positionOf(rightOrigin))) return false;
  }
  return true;
}
