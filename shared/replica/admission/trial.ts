import type * as Y from "yjs";
import type { Steps } from "../../steps.ts";
import { type DecodedUpdate, referencesOf, type Struct } from "./decode-update.ts";
import { type Places, placeKey } from "./placed-update.ts";
import { TextOrder } from "./text-order.ts";
import { visitInOrder } from "./visit-in-order.ts";

/**
 * How many concurrent insertions may be passed while places are searched. Yjs takes a tenth of a
 * second for so many, at every machine that gets the update.
 */
export const SEARCH_STEPS_MAX = 2_000_000;

/** Yjs may pass so many itself, in one turn of the event loop. */
export const PLAIN_STEPS_MAX = 100_000;

/** What a trial has found. */
export interface Trial {
  /** What is wrong with the update; undefined for a sound one. */
  readonly problem?: string;
  /** How many insertions were passed. */
  readonly steps: number;
  /** Where those belong for which others were passed. */
  readonly places?: Places;
}

/**
 * Adds an update's insertions to a copy of the text's order, one after the other. Finds what can't
 * be known in advance: insertions that come before their left neighbour, and insertions made so
 * that the search for their places, which is quadratic, takes minutes.
 */
export function* tryUpdate(
  text: Y.Text,
  store: Y.Doc["store"],
  {
    update: { clients },
    integratedOf,
    isInText,
    isOrdered,
  }: {
    readonly update: DecodedUpdate;
    /** Up to which clock the document has a client's structures. */
    readonly integratedOf: (client: number) => number;
    readonly isInText: (struct: Struct) => struct is Y.Item;
    /** Whether it is known that all insertions stand between their neighbours. */
    readonly isOrdered: boolean;
  },
): Steps<Trial> {
  const order = yield* TextOrder.of(text, store);
  const places = new Map<string, Y.ID | null>();
  let steps = 0;
  const visit = (struct: Struct) => {
    const known = Math.max(integratedOf(struct.id.client) - struct.id.clock, 0);
    if (steps > SEARCH_STEPS_MAX || known >= struct.length || !isInText(struct)) return 1;
    const { left, steps: taken } = order.add(struct, known);
    if (taken > 0) places.set(placeKey(struct.id.client, struct.id.clock + known), left);
    steps += taken;
    return taken + 1;
  };
  const walk = visitInOrder(clients, integratedOf, { referencesOf, visit });
  while (walk.next().done !== true && steps <= SEARCH_STEPS_MAX) yield;
  if (steps > SEARCH_STEPS_MAX)
    return { problem: "its insertions are too many at one place", steps };
  if (!isOrdered && !(yield* order.isSound())) {
    return { problem: "an insertion stands before what is on its left", steps };
  }
  return { steps, places };
}
