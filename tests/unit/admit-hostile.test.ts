import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import * as Y from "yjs";
import { admitUpdate } from "../../shared/replica/admission/admit.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import {
  admit,
  admitForged,
  admitItems,
  HELD,
  insertion,
  NEW,
  OWN,
  takeIn,
} from "../support/admission.ts";
import { CONTENT, item, length, text } from "../support/forged-update.ts";
import { NOW, viewOf } from "../support/replicas.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

describe("hostile updates", () => {
  test("every change of one byte is admitted and sound, missing or refused", () => {
    const updates = honestHistory();
    for (const [index, update] of updates.entries()) {
      const held = new ReplicaDocument(updates.slice(0, index), OWN);
      const before = viewOf(held);
      for (const mutated of mutationsOf(update)) {
        if (admitUpdate(held, mutated, OWN).kind !== "admitted") continue;
        takeIn(new ReplicaDocument(updates.slice(0, index), OWN), mutated);
      }
      expect(viewOf(held)).toEqual(before);
    }
  });

  test("replicas that admit a changed update end up equal in whatever order it comes", () => {
    const updates = honestHistory();
    fc.assert(
      fc.property(fc.nat(updates.length - 1), fc.nat(80), fc.nat(255), (index, place, byte) => {
        const mutated = (updates[index] ?? new Uint8Array()).slice();
        mutated[place % mutated.length] = byte;
        const early = new ReplicaDocument(updates.slice(0, index), OWN);
        const late = new ReplicaDocument(updates.slice(0, index), OWN);
        if (!admit(early, mutated).startsWith("admitted")) return;
        takeIn(early, mutated);
        for (const update of updates.slice(index + 1)) {
          const admitted = [early, late].every((each) =>
            admit(each, update).startsWith("admitted"),
          );
          if (admitted) for (const each of [early, late]) takeIn(each, update);
        }
        if (!admit(late, mutated).startsWith("admitted")) return;
        takeIn(late, mutated);
        expect(viewOf(late)).toEqual(viewOf(early));
      }),
      { numRuns: 3000 },
    );
  });

  test("random bytes and random splices of updates are never taken in unsoundly", () => {
    const updates = honestHistory();
    const splice = fc
      .tuple(fc.nat(updates.length - 1), fc.nat(updates.length - 1), fc.nat(80), fc.nat(80))
      .map(([one, other, head, tail]) =>
        Uint8Array.of(
          ...(updates[one] ?? []).slice(0, head),
          ...(updates[other] ?? []).slice(tail),
        ),
      );
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 60 }), splice);
    fc.assert(
      fc.property(bytes, fc.nat(updates.length), (update, heldCount) => {
        const document = new ReplicaDocument(updates.slice(0, heldCount), OWN);
        if (admit(document, update).startsWith("admitted")) takeIn(document, update);
      }),
      { numRuns: 4000 },
    );
  });

  test("insertions made to keep Yjs searching for minutes are turned down", () => {
    const count = 40_000;
    const chain = Array.from({ length: count }, (_, at) =>
      insertion({ content: text("a"), ...(at > 0 && { origin: [NEW, at - 1] as const }) }),
    );
    const searching = Array.from({ length: count }, (_, at) =>
      insertion({ content: text("b"), rightOrigin: [NEW, count - 1 - at] }),
    );
    expect(admitItems(...chain, ...searching)).toContain("too many at one place");
  });

  test("millions of structures or clients are turned down before they take memory", () => {
    const tiny = { ref: CONTENT.deleted, origin: [HELD, 9] as const, content: length(1) };
    expect(admitItems(...Array.from({ length: 300_000 }, () => tiny))).toContain("too many parts");
    const ranges = Array.from({ length: 300_000 }, () => [1, 1] as const);
    expect(admitForged({ deletions: [{ client: HELD, ranges }] })).toContain("too many parts");
    const structs = [item(insertion({}))];
    const sections = Array.from({ length: 40_000 }, (_, at) => ({
      client: at + 10,
      clock: 0,
      structs,
    }));
    expect(admitForged({ sections })).toContain("too many clients");
  });
});

/** Every copy of an update with another value of one byte. */
function* mutationsOf(update: Uint8Array): Generator<Uint8Array> {
  for (const [at, byte] of update.entries()) {
    for (let value = 0; value < 256; value++) {
      if (value === byte) continue;
      const mutated = update.slice();
      mutated[at] = value;
      yield mutated;
    }
  }
}

/** What two replicas wrote, in an order in which each update can be taken in. */
function honestHistory(): Uint8Array[] {
  const documents = [new ReplicaDocument([], 11), new ReplicaDocument([], 12)];
  const [one, other] = documents as [ReplicaDocument, ReplicaDocument];
  const updates: Uint8Array[] = [];
  for (const document of documents) {
    document.ydoc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== "remote") updates.push(update);
    });
  }
  const meet = () => {
    Y.applyUpdate(one.ydoc, Y.encodeStateAsUpdate(other.ydoc), "remote");
    Y.applyUpdate(other.ydoc, Y.encodeStateAsUpdate(one.ydoc), "remote");
  };
  one.setContent("one\ntwo\nthree 😀\nfour\n", NOW);
  one.setEntry("memories", "a", { value: "1", now: NOW });
  one.setEntry("metadata", "m", { value: { x: [1, 2] }, now: NOW });
  meet();
  other.setContent("one\n2\nthree 😀\nfour\nfive\n", NOW);
  other.setEntry("memories", "a", { value: "2", now: NOW });
  one.setContent("one\ntwo\n3 😀\nfour\n", NOW);
  one.setEntry("memories", "a", { value: "3", now: NOW });
  meet();
  other.setContent("zero\n2\nthree 😀\nfour\nfive 5\n", NOW);
  other.deleteEntry("memories", "a");
  one.setContent("one\n2\nthree 😀\nfour\nfive\nsix\n", NOW);
  return updates;
}
