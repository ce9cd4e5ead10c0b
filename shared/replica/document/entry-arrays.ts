import * as Y from "yjs";
import { assert } from "../../errors.ts";
import type { Entry, StoredEntry } from "./entry-index.ts";

/** The two kinds of keyed values. Each one's name is the first part of its roots' names. */
export type EntryKind = "memories" | "metadata";

interface EntryArray {
  readonly kind: EntryKind;
  readonly array: Y.Array<StoredEntry>;
}

/**
 * The roots `memories/<client id>` and `metadata/<client id>` of a document. Entries are appended
 * and deleted by their ids, which avoids `Y.Array`'s walk through the list to an index.
 */
export class EntryArrays {
  readonly #ydoc: Y.Doc;
  readonly #arrays = new Map<unknown, EntryArray>();
  /** The last entry in this client's own array of each kind. */
  readonly #last = new Map<EntryKind, Y.ID>();
  #rootsSeen = 0;

  constructor(ydoc: Y.Doc) {
    this.#ydoc = ydoc;
  }

  /** The kind of entries in a Yjs type; undefined if it contains none. */
  kindOf(type: unknown): EntryKind | undefined {
    return this.#arrays.get(type)?.kind;
  }

  /** Creates arrays for the roots that are new since the last call, and returns them. */
  drainNew(): EntryArray[] {
    const { share } = this.#ydoc;
    if (share.size === this.#rootsSeen) return [];
    const fresh: EntryArray[] = [];
    for (const name of [...share.keys()]) {
      const kind = kindOfRoot(name);
      if (!kind || this.#arrays.has(share.get(name))) continue;
      const array = this.#ydoc.getArray<StoredEntry>(name);
      this.#arrays.set(array, { kind, array });
      fresh.push({ kind, array });
    }
    this.#rootsSeen = share.size;
    return fresh;
  }

  /**
   * Appends to this client's own array, as one item: Yjs would join items of one entry each in time
   * that is quadratic in their number.
   */
  append(transaction: Y.Transaction, kind: EntryKind, entries: readonly StoredEntry[]): void {
    if (entries.length === 0) return;
    const { clientID: client, store } = this.#ydoc;
    const array = this.#ydoc.getArray<StoredEntry>(`${kind}/${client}`);
    this.#arrays.set(array, { kind, array });
    const left = this.#lastItem(kind, array);
    const id = Y.createID(client, Y.getState(store, client));
    const content = new Y.ContentAny([...entries]);
    const origin = left === null ? null : left.lastId;
    new Y.Item(id, left, origin, null, null, array, null, content).integrate(transaction, 0);
    this.#last.set(kind, Y.createID(client, id.clock + entries.length - 1));
  }

  #lastItem(kind: EntryKind, array: Y.Array<StoredEntry>): Y.Item | null {
    const last = this.#last.get(kind);
    const known = last && Y.getItem(this.#ydoc.store, last);
    let item = known instanceof Y.Item ? known : array._start;
    while (item?.right) item = item.right;
    return item;
  }

  /** Deletes visible entries of one kind. */
  delete(transaction: Y.Transaction, kind: EntryKind, entries: readonly Entry[]): void {
    const ranges = Y.createDeleteSet();
    for (const { client, clock } of entries.map(({ id }) => id)) {
      const known = ranges.clients.get(client) ?? [];
      known.push({ clock, len: 1 });
      ranges.clients.set(client, known);
    }
    // Ranges that touch are merged, because each end of a range splits an item.
    Y.iterateDeletedStructs(transaction, Y.mergeDeleteSets([ranges]), (item) => {
      assert(item instanceof Y.Item && !item.deleted, "an indexed entry is visible");
      assert(this.kindOf(item.parent) === kind, "an indexed entry is in an array of its kind");
      item.delete(transaction);
    });
  }
}

/** The kind of a root `memories/<client>` or `metadata/<client>`; undefined for any other root. */
export function kindOfRoot(name: string): EntryKind | undefined {
  const match = /^(memories|metadata)\/(0|[1-9][0-9]{0,9})$/.exec(name);
  return match?.[1] as EntryKind | undefined;
}

/** The client of a root's array. `kindOfRoot` must know the name. */
export function ownerOfRoot(name: string): number {
  return Number(name.slice(name.indexOf("/") + 1));
}

/** The entries in an item, deleted or not; none after Yjs has discarded its content. */
export function entriesOf(item: Y.Item): Entry[] {
  if (!(item.content instanceof Y.ContentAny)) return [];
  const { client, clock } = item.id;
  return item.content.arr.map((stored: StoredEntry, offset) => ({
    ...stored,
    id: { client, clock: clock + offset },
  }));
}

/** The items of a list that are not deleted. */
export function* visibleItems(array: Y.Array<StoredEntry>): Generator<Y.Item> {
  for (let item = array._start; item !== null; item = item.right) {
    if (!item.deleted) yield item;
  }
}
