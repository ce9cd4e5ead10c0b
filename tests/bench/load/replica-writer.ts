import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import { randomUint32 } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";

const KEYS = 50;

/** A client's own replica: each write overwrites one of its memories. */
export class ReplicaWriter {
  readonly #document = new ReplicaDocument([], randomUint32(realWorld));
  #last: Uint8Array = new Uint8Array();
  #writes = 0;

  constructor() {
    this.#document.ydoc.on("update", (update: Uint8Array) => {
      this.#last = update;
    });
  }

  /** The update of one changed memory. */
  write(): Uint8Array {
    const key = `note-${this.#writes % KEYS}`;
    const value = `Decision ${this.#writes++}: the importer reads each file once, and no more.`;
    this.#document.setEntry("memories", key, { value, now: Date.now() });
    return this.#last;
  }
}
