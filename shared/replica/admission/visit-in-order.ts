import type * as Y from "yjs";
import { ITEMS_PER_STEP, type Steps } from "../../steps.ts";
import type { Struct } from "./decode-update.ts";

/**
 * Visits each structure of an update after those that it refers to, in an order in which Yjs can
 * apply them. False if there is none, because they refer to each other in a cycle.
 * `integratedOf`: up to which clock the document has a client's structures. Everything referred to
 * must be in the document or the update.
 */
export function* visitInOrder(
  clients: ReadonlyMap<number, readonly Struct[]>,
  integratedOf: (client: number) => number,
  {
    referencesOf,
    visit,
  }: {
    readonly referencesOf: (struct: Struct) => readonly Y.ID[];
    /** Returns how many items it has passed. */
    readonly visit: (struct: Struct) => number;
  },
): Steps<boolean> {
  let passed = 0;
  const walks = new Map<number, Walk>();
  for (const [client, structs] of clients)
    walks.set(client, { structs, next: 0, end: 0, waits: false });
  const isThere = ({ client, clock }: Y.ID) =>
    clock < integratedOf(client) || clock < (walks.get(client)?.end ?? 0);
  for (const first of walks.values()) {
    const stack = [{ walk: first, until: (): boolean => false }];
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const { walk, until } = top;
      const struct = until() ? undefined : walk.structs[walk.next];
      const unmet = struct && referencesOf(struct).find((id) => !isThere(id));
      walk.waits = unmet !== undefined;
      if (!struct) stack.pop();
      else if (!unmet) {
        // Set before the visit, which may split the structure and make it shorter.
        walk.end = struct.id.clock + struct.length;
        walk.next += 1;
        passed += visit(struct);
        if (passed >= ITEMS_PER_STEP) {
          passed = 0;
          yield;
        }
      } else {
        const other = walks.get(unmet.client);
        if (!other || other.waits || other.next === other.structs.length) return false;
        stack.push({ walk: other, until: () => isThere(unmet) });
      }
    }
  }
  return true;
}

/** The progress of the visit of one client's structures. */
interface Walk {
  readonly structs: readonly Struct[];
  next: number;
  /** The clock up to which they were visited. */
  end: number;
  /** Waits for a structure of another client. */
  waits: boolean;
}
