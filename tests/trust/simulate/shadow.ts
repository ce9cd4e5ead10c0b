import { crc32 } from "node:zlib";
import * as Y from "yjs";
import { ReplicaDocument } from "../../../shared/replica/document/document.ts";
import type { CommittedRow } from "../../../shared/replica/store/open-document.ts";
import type { KeyDiff } from "./memory-ledger.ts";
import { keysOf, standingOf } from "./standing.ts";

/** What the rows of a node's log come to, and what each of them did. */
export interface ShadowListener {
  keyChanged(diff: KeyDiff): void;
  /** The same where a start finds on the disk what was committed, but never announced. */
  keyFound(diff: Omit<KeyDiff, "origin">): void;
  textChanged(change: TextChange): void;
  report(problem: string): void;
}

/** What one committed row did to a document's text. */
export interface TextChange {
  readonly node: string;
  readonly document: string;
  readonly origin: "local" | "remote";
  readonly before: string;
  readonly after: string;
}

/** Client id of a document that nobody writes to. */
const NOBODY = 1;

/** The same document has another name on the service. */
export function commonName(name: string): string {
  return name.startsWith("user/") ? "user" : name;
}

/**
 * One node's documents as the rows that it announced make them, row by row: what a person can have
 * seen there, and may not vanish in a crash.
 */
export class Shadow {
  readonly #node: string;
  readonly #listener: ShadowListener;
  readonly #documents = new Map<string, ReplicaDocument>();
  /** By document, epoch and `seq`: what was announced as that row. */
  readonly #announced = new Map<string, number>();

  constructor(node: string, listener: ShadowListener) {
    this.#node = node;
    this.#listener = listener;
  }

  get documents(): ReadonlyMap<string, ReplicaDocument> {
    return this.#documents;
  }

  /** Begins anew with what a start has found on the disk. `restored`: with an older copy. */
  load(documents: ReadonlyMap<string, readonly Uint8Array[]>, restored: boolean): void {
    const before = new Map(this.#documents);
    this.#documents.clear();
    for (const [name, updates] of documents) {
      const document = new ReplicaDocument(updates, NOBODY);
      this.#documents.set(name, document);
      if (!restored) this.#tellOfDifferences(name, before.get(name), document);
    }
  }

  #tellOfDifferences(
    name: string,
    before: ReplicaDocument | undefined,
    after: ReplicaDocument,
  ): void {
    const keys = new Set([...keysOf(before), ...keysOf(after)]);
    const place = { node: this.#node, document: name };
    for (const key of keys) {
      const difference = differenceOf(standingOf(before, key), standingOf(after, key));
      if (difference) this.#listener.keyFound({ ...place, key, ...difference });
    }
    const [textBefore, textAfter] = [before?.content() ?? "", after.content()];
    if (textBefore === textAfter) return;
    const change = { ...place, before: textBefore, after: textAfter };
    this.#listener.textChanged({ ...change, origin: "local" });
  }

  take(rows: readonly CommittedRow[]): void {
    for (const row of rows) {
      this.#checkSeq(row);
      this.#apply(row);
    }
  }

  #apply({ address, origin, update, changes }: CommittedRow): void {
    const document = this.#get(commonName(address.name));
    const before = new Map([...changes.memoryKeys].map((key) => [key, standingOf(document, key)]));
    const textBefore = document.content();
    Y.applyUpdate(document.ydoc, update, "remote");
    if (document.hasPending()) this.#listener.report(`${this.#node} announced a row with a gap`);
    const place = { node: this.#node, document: commonName(address.name), origin };
    for (const [key, stood] of before) {
      const difference = differenceOf(stood, standingOf(document, key));
      if (difference) this.#listener.keyChanged({ ...place, key, ...difference });
    }
    const textAfter = document.content();
    if (textAfter === textBefore) return;
    this.#listener.textChanged({ ...place, before: textBefore, after: textAfter });
  }

  #get(name: string): ReplicaDocument {
    const known = this.#documents.get(name) ?? new ReplicaDocument([], NOBODY);
    this.#documents.set(name, known);
    return known;
  }

  /** A position means one content for ever, and the rows of an epoch have no gap. */
  #checkSeq({ address, epoch, seq, update }: CommittedRow): void {
    const at = (row: number) => `${address.name} ${epoch} ${row}`;
    const sum = crc32(update);
    const known = this.#announced.get(at(seq));
    if (known !== undefined && known !== sum) {
      this.#listener.report(`${this.#node} gave the position ${at(seq)} to two rows`);
    }
    if (this.#announced.has(at(seq + 1))) {
      this.#listener.report(`${this.#node} announced ${at(seq)} after the row behind it`);
    }
    this.#announced.set(at(seq), sum);
  }
}

function differenceOf(before: readonly string[], after: readonly string[]) {
  const removed = before.filter((value) => !after.includes(value));
  const added = after.filter((value) => !before.includes(value));
  return removed.length + added.length === 0 ? undefined : { removed, added };
}

/** Everything that a person can see of a document, and what decides it. */
export function viewOf(document: ReplicaDocument | undefined): string {
  if (!document) return JSON.stringify([[], "", []]);
  const entries = (["memories", "metadata"] as const).map((kind) =>
    [...document[kind].keys()].sort().map((key) => [key, document[kind].get(key)]),
  );
  return JSON.stringify([entries[0], document.content(), entries[1]]);
}
