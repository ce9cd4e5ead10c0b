import * as Y from "yjs";
import { assert } from "../../errors.ts";
import type { DeltaStep } from "./text-delta.ts";

/**
 * Changes a text from its beginning to its end, in as many transactions as there are calls of
 * `apply`. Together they write what one `applyDelta` of all steps would; but Yjs begins each of
 * those at the text's beginning again.
 *
 * ```
 * const cursor = new TextCursor(ytext);
 * cursor.apply([{ retain: 4 }, { insert: "two\n" }]);
 * cursor.apply([{ delete: 6 }]); // what comes after the inserted line
 * ```
 */
export class TextCursor {
  readonly #text: Y.Text;
  /** The character on its left, which may be deleted; undefined at the beginning. */
  #behind: Y.ID | undefined;
  #left: Y.Item | null = null;
  #right: Y.Item | null = null;

  /** Nobody else may change the text as long as this is in use. */
  constructor(text: Y.Text) {
    this.#text = text;
  }

  apply(steps: readonly DeltaStep[]): void {
    const { doc } = this.#text;
    assert(doc !== null, "a text is in a document before it is edited");
    doc.transact((transaction) => {
      this.#find(transaction);
      for (const step of steps) {
        if ("insert" in step) this.#insert(transaction, step.insert);
        else if ("delete" in step) this.#pass(transaction, step.delete, true);
        else this.#pass(transaction, step.retain, false);
      }
      // Yjs also remembers places by their index; these have changed.
      if (this.#text._searchMarker) this.#text._searchMarker.length = 0;
      // At the transaction's end Yjs joins items.
      this.#behind = this.#left?.lastId;
    });
  }

  #find(transaction: Y.Transaction): void {
    const { store } = transaction.doc;
    this.#left = this.#behind ? Y.getItemCleanEnd(transaction, store, this.#behind) : null;
    this.#right = this.#left ? this.#left.right : this.#text._start;
  }

  /** Behind what was deleted there, as Yjs inserts. */
  #insert(transaction: Y.Transaction, text: string): void {
    while (this.#right?.deleted) this.#advance(this.#right);
    const { clientID: client, store } = transaction.doc;
    const [left, right] = [this.#left, this.#right];
    const id = Y.createID(client, Y.getState(store, client));
    const content = new Y.ContentString(text);
    const [origin, rightOrigin] = [left?.lastId ?? null, right?.id ?? null];
    const item = new Y.Item(id, left, origin, right, rightOrigin, this.#text, null, content);
    item.integrate(transaction, 0);
    this.#advance(item);
  }

  #pass(transaction: Y.Transaction, length: number, deletes: boolean): void {
    let rest = length;
    for (let item = this.#right; rest > 0 && item !== null; item = this.#right) {
      if (!item.deleted && item.countable) {
        const { client, clock } = item.id;
        if (rest < item.length) Y.getItemCleanStart(transaction, Y.createID(client, clock + rest));
        rest -= item.length;
        if (deletes) item.delete(transaction);
      }
      this.#advance(item);
    }
  }

  #advance(item: Y.Item): void {
    this.#left = item;
    this.#right = item.right;
  }
}
