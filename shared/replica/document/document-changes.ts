import * as Y from "yjs";
import type { RemovedText } from "../text/removed-text.ts";
import { type EntryArrays, type EntryKind, entriesOf } from "./entry-arrays.ts";
import type { KeyChange } from "./entry-index.ts";

/** The changes that one transaction made to a document. */
export class TransactionChanges {
  readonly memories = new Map<string, KeyChange>();
  readonly metadata = new Map<string, KeyChange>();
  text = false;
  /** The clients whose characters were added to the text. */
  readonly textClients = new Set<number>();
  /** What this replica itself removed from the text. */
  readonly removedText: RemovedText[] = [];
  readonly #arrays: EntryArrays;
  readonly #text: unknown;

  constructor(arrays: EntryArrays, text: unknown) {
    this.#arrays = arrays;
    this.#text = text;
  }

  /** To be called before Yjs discards deleted content. */
  collect(transaction: Y.Transaction): void {
    const { afterState, beforeState, deleteSet } = transaction;
    Y.iterateDeletedStructs(transaction, deleteSet, (item) => {
      const before = beforeState.get(item.id.client) ?? 0;
      if (!(item instanceof Y.Item) || item.id.clock >= before) return;
      this.item(item, false);
      if (transaction.origin === "local") this.#textRemoved(item);
    });
    for (const [client, after] of afterState) {
      const before = beforeState.get(client) ?? 0;
      if (after > before) this.#itemsAdded(transaction, client, before);
    }
  }

  #textRemoved({ parent, id, content }: Y.Item): void {
    if (parent !== this.#text || !(content instanceof Y.ContentString)) return;
    this.removedText.push({ client: id.client, clock: id.clock, text: content.str });
  }

  #itemsAdded({ doc }: Y.Transaction, client: number, fromClock: number): void {
    const structs = doc.store.clients.get(client) ?? [];
    for (let at = Y.findIndexSS(structs, fromClock); at < structs.length; at++) {
      const item = structs[at];
      if (item instanceof Y.Item) this.item(item, !item.deleted);
    }
  }

  /** An item that was added, or one that was deleted and still has its content. */
  item(item: Y.Item, added: boolean): void {
    if (item.parent === this.#text) {
      this.text = true;
      if (added) this.textClients.add(item.id.client);
      return;
    }
    const kind = this.#arrays.kindOf(item.parent);
    if (!kind) return;
    for (const entry of entriesOf(item)) {
      const change = this.#changeOf(kind, entry.key);
      if (added) change.added.push(entry);
      else change.removed.push(entry);
    }
  }

  #changeOf(kind: EntryKind, key: string): KeyChange {
    const changes = kind === "memories" ? this.memories : this.metadata;
    const known = changes.get(key);
    if (known) return known;
    const fresh: KeyChange = { added: [], removed: [] };
    changes.set(key, fresh);
    return fresh;
  }
}
