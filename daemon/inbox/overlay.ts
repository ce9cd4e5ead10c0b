import { type EntryId, sameId } from "../../shared/replica/document/entry-index.ts";
import type { InboxWrite } from "./inbox.ts";

/** The parts of a document that writes of the inbox can replace. */
export interface Values {
  readonly memories: ReadonlyMap<string, string>;
  readonly text: string;
}

/**
 * A document's values as they will be once the next daemon has applied the writes.
 *
 * ```
 * const { memories } = laidOver(stored, await readInbox(db, document));
 * ```
 */
export function laidOver<Held extends Values>(values: Held, writes: readonly InboxWrite[]): Held {
  const memories = new Map(values.memories);
  let { text } = values;
  for (const write of writes) {
    if (write.kind === "text") text = write.value;
    if (write.kind !== "memory") continue;
    if (write.value === undefined) memories.delete(write.key);
    else memories.set(write.key, write.value);
  }
  return { ...values, memories, text };
}

/** Whether one of the writes replaces or dismisses this entry of a memory. */
export function settlesEntry(writes: readonly InboxWrite[], key: string, id: EntryId): boolean {
  return writes.some((write) => {
    if (write.kind !== "memory" && write.kind !== "losers") return false;
    return write.key === key && write.seen.some((each) => sameId(each, id));
  });
}

/** Whether one of the writes dismisses this conflict of the text. */
export function dismissesConflict(writes: readonly InboxWrite[], id: string): boolean {
  return writes.some((write) => write.kind === "text-conflict" && write.id === id);
}
