import fc from "fast-check";
import * as Y from "yjs";
import type { JsonValue } from "../../shared/json.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import type { EntryKind } from "../../shared/replica/document/entry-arrays.ts";
import type { EntryId } from "../../shared/replica/document/entry-index.ts";

export const NOW = Date.UTC(2026, 0, 1);

/** What a replica's user can see, with the entries that decide it. */
export function viewOf(document: ReplicaDocument) {
  const entries = (kind: EntryKind) =>
    [...document[kind].keys()].sort().map((key) => [key, document[kind].get(key)]);
  return {
    content: document.content(),
    memories: entries("memories"),
    metadata: entries("metadata"),
  };
}

/** The same document, loaded anew from what it would store. */
export function reloaded(document: ReplicaDocument): ReplicaDocument {
  return new ReplicaDocument([Y.encodeStateAsUpdate(document.ydoc)], 1);
}

/** Gives each of the documents what all others hold. */
export function exchangeAll(documents: readonly ReplicaDocument[]): void {
  for (const from of documents) {
    const update = Y.encodeStateAsUpdate(from.ydoc);
    for (const to of documents) if (to !== from) Y.applyUpdate(to.ydoc, update, "remote");
  }
}

/** The value that a key shows. */
export function shownValue(document: ReplicaDocument, key: string): JsonValue | undefined {
  return document.memories.get(key)[0]?.value;
}

export function idsOf(document: ReplicaDocument, key: string): EntryId[] {
  return document.memories.get(key).map(({ id }) => id);
}

/** One random thing that a user of a replica does. */
export type Edit =
  | { readonly do: "set"; readonly kind: EntryKind; readonly key: string; readonly value: string }
  | { readonly do: "delete"; readonly kind: EntryKind; readonly key: string }
  | { readonly do: "text"; readonly content: string };

const key = fc.constantFrom("a", "b", "c", "d");
const kind = fc.constantFrom("memories" as const, "metadata" as const);
const line = fc.constantFrom("one", "two", "😀 three", "", "four\r");

export const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      kind,
      key,
      value: fc.string({ maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), kind, key }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("text" as const),
      content: fc
        .array(line, { maxLength: 5 })
        .map((lines) => lines.map((each) => `${each}\n`).join("")),
    }),
  },
);

export function applyEdit(document: ReplicaDocument, edit: Edit, now: number): void {
  if (edit.do === "set") document.setEntry(edit.kind, edit.key, { value: edit.value, now });
  else if (edit.do === "delete") document.deleteEntry(edit.kind, edit.key);
  else document.setContent(edit.content, now);
}
