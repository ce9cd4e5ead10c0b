import { expect, test } from "bun:test";
import fc from "fast-check";
import * as Y from "yjs";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { joinUpdates } from "../../shared/replica/log/join-updates.ts";
import { anyEdit, applyEdit, NOW } from "../support/replicas.ts";

const RUNS = { numRuns: 200, seed: 14 };

/** A document of the client, and the updates that its edits make. */
function watchedDocument(client: number, updates: readonly Uint8Array[] = []) {
  const document = new ReplicaDocument(updates, client);
  const made: Uint8Array[] = [];
  document.ydoc.on("update", (update: Uint8Array) => void made.push(update));
  return { document, made };
}

function stateAfter(updates: readonly Uint8Array[]): string {
  const ydoc = new Y.Doc();
  for (const update of updates) Y.applyUpdate(ydoc, update);
  expect(ydoc.store.pendingStructs).toBeNull();
  return Buffer.from(Y.encodeStateAsUpdate(ydoc)).toString("base64");
}

test("updates of one client that continue each other do joined what they do one by one", () => {
  fc.assert(
    fc.property(fc.array(anyEdit, { minLength: 2, maxLength: 30 }), fc.nat(), (edits, at) => {
      const { document, made } = watchedDocument(4_000_000_000);
      for (const [time, edit] of edits.entries()) applyEdit(document, edit, NOW + time);
      if (made.length === 0) return;
      const from = at % made.length;
      const joined = joinUpdates(made.slice(from));
      expect(joined).toBeDefined();
      expect(stateAfter([...made.slice(0, from), joined ?? new Uint8Array()])).toBe(
        stateAfter(made),
      );
    }),
    RUNS,
  );
});

test("any value is passed over, and joined updates are as Yjs writes them", () => {
  const { document, made } = watchedDocument(7);
  const values = [0, -1, 63, 64, -8_191, 2 ** 40, -(2 ** 52), 0.5, 0.1, 1e300, true, false, null];
  const texts = ["", "é", "漢字", "😀 and more", "\u0000"];
  for (const [at, value] of [...values, ...texts, [], {}, [1, [2, { a: [] }]]].entries()) {
    document.setEntry("metadata", `key ${at}`, { value: { at, value }, now: NOW });
  }
  document.setContent("one 😀\ntwo é\n", NOW);
  document.setContent("one 😀\n漢字\nthree\n", NOW);
  for (const at of [3, 1, 2, 9]) document.deleteEntry("metadata", `key ${at}`);
  const joined = joinUpdates(made);
  expect(stateAfter([joined ?? new Uint8Array()])).toBe(stateAfter(made));
  const deletions = (update: Uint8Array) => Y.decodeUpdate(update).ds.clients;
  expect(deletions(joined ?? new Uint8Array())).toEqual(deletions(Y.mergeUpdates(made)));
});

test("updates that only delete join any others, and are one that only deletes", () => {
  const one = watchedDocument(1);
  for (const key of ["a", "b", "c"])
    one.document.setEntry("memories", key, { value: "v", now: NOW });
  const two = watchedDocument(2, one.made);
  two.document.deleteEntry("memories", "c");
  two.document.deleteEntry("memories", "b");
  const joined = joinUpdates(two.made) ?? new Uint8Array();
  expect(Y.decodeUpdate(joined).structs).toEqual([]);
  expect([...joined]).toEqual([...Y.mergeUpdates(two.made)]);
  const all = joinUpdates([...one.made, ...two.made]) ?? new Uint8Array();
  expect(stateAfter([all])).toBe(stateAfter([...one.made, ...two.made]));
});

test("updates of two clients, with a gap, or broken off are left to Yjs", () => {
  const { document, made } = watchedDocument(1);
  for (const key of ["a", "b", "c"]) document.setEntry("memories", key, { value: "v", now: NOW });
  const [first = new Uint8Array(), , third = new Uint8Array()] = made;
  const other = watchedDocument(2, made);
  other.document.setEntry("memories", "a", { value: "w", now: NOW + 1 });
  expect(joinUpdates([...made, ...other.made])).toBeUndefined();
  expect(joinUpdates([first, third])).toBeUndefined();
  expect(joinUpdates([third, first])).toBeUndefined();
  expect(joinUpdates([Y.encodeStateAsUpdate(other.document.ydoc), first])).toBeUndefined();
  expect(joinUpdates([first.subarray(0, -4), third])).toBeUndefined();
});
