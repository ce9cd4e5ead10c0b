import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import * as Y from "yjs";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { ENTRY_TIME_MAX } from "../../shared/replica/document/stored-value.ts";
import { joinForm, splitForm } from "../../shared/replica/text/text-form.ts";
import {
  anyEdit,
  applyEdit,
  exchangeAll,
  idsOf,
  NOW,
  reloaded,
  shownValue,
  viewOf,
} from "../support/replicas.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

function newDocument(clientId: number): ReplicaDocument {
  return new ReplicaDocument([], clientId);
}

function set(document: ReplicaDocument, key: string, value: string, now = NOW): boolean {
  return document.setEntry("memories", key, { value, now });
}

describe("entries", () => {
  test("concurrent writes of a key leave a winner and conflicts, the same on every replica", () => {
    const documents = [1, 2, 3].map(newDocument);
    const [first, second, third] = documents as [ReplicaDocument, ReplicaDocument, ReplicaDocument];
    set(first, "a", "early", NOW);
    set(second, "a", "latest", NOW + 2);
    set(third, "a", "later", NOW + 1);
    exchangeAll(documents);
    exchangeAll(documents);
    for (const document of documents) {
      const values = document.memories.get("a").map(({ value }) => value);
      expect(values).toEqual(["latest", "later", "early"]);
      expect(viewOf(document)).toEqual(viewOf(first));
    }
  });

  test("many writes at once are what they are one by one, also of keys with conflicts", () => {
    const start = [1, 2].map(newDocument) as [ReplicaDocument, ReplicaDocument];
    for (const [at, document] of start.entries()) {
      for (const key of ["a", "b", "c"]) set(document, key, `${key}${at}`);
    }
    exchangeAll(start);
    const update = Y.encodeStateAsUpdate(start[0].ydoc);
    const writes = ["d", "b", "a", "e", "c"].map((key) => ({
      key,
      value: key === "c" ? "c1" : key,
    }));
    const [atOnce, singly] = [3, 3].map((client) => new ReplicaDocument([update], client));
    const changed = atOnce?.setEntries("memories", writes, NOW + 5);
    singly?.change("local", () => {
      const each = writes.map(({ key, value }) => set(singly, key, value, NOW + 5));
      expect(changed).toEqual(each);
    });
    expect(changed).toEqual([true, true, true, true, false]);
    for (const key of ["a", "b", "c", "d", "e"]) {
      expect(atOnce?.memories.get(key)).toEqual([...(singly?.memories.get(key) ?? [])]);
    }
    const stateOf = (document: ReplicaDocument | undefined) =>
      document && Buffer.from(Y.encodeStateAsUpdate(document.ydoc)).toString("base64");
    expect(stateOf(atOnce)).toBe(stateOf(singly));
  });

  test("of writes at the same time the one with the higher client id wins", () => {
    const [low, high] = [newDocument(1), newDocument(2)];
    set(high, "a", "high");
    set(low, "a", "low");
    exchangeAll([low, high]);
    expect([shownValue(low, "a"), shownValue(high, "a")]).toEqual(["high", "high"]);
  });

  test("of writes at the same time under one client id the later one wins", () => {
    const [one, other] = [newDocument(1), newDocument(2)];
    for (const value of ["first", "second"]) {
      one.setEntry("memories", "a", { value, now: NOW, seen: [] });
    }
    exchangeAll([one, other]);
    for (const document of [one, other]) {
      expect(document.memories.get("a").map(({ value }) => value)).toEqual(["second", "first"]);
    }
  });

  test("a write settles the conflicts that it saw, everywhere", () => {
    const [one, other] = [newDocument(1), newDocument(2)];
    set(one, "a", "1");
    set(other, "a", "2");
    exchangeAll([one, other]);
    set(one, "a", "settled");
    exchangeAll([one, other]);
    expect(viewOf(other)).toEqual(viewOf(one));
    expect(other.memories.get("a").map(({ value }) => value)).toEqual(["settled"]);
  });

  test("a write survives a concurrent delete", () => {
    const [writer, deleter] = [newDocument(1), newDocument(2)];
    set(writer, "a", "1");
    exchangeAll([writer, deleter]);
    deleter.deleteEntry("memories", "a");
    set(writer, "a", "2");
    exchangeAll([writer, deleter]);
    expect([shownValue(writer, "a"), shownValue(deleter, "a")]).toEqual(["2", "2"]);
  });

  test("different keys never conflict", () => {
    const [one, other] = [newDocument(1), newDocument(2)];
    set(one, "a", "1");
    set(other, "b", "2");
    exchangeAll([one, other]);
    expect(viewOf(one)).toEqual(viewOf(other));
    expect([idsOf(one, "a").length, idsOf(one, "b").length]).toEqual([1, 1]);
  });

  test("an equal write changes nothing, not even the state vector", () => {
    const document = newDocument(1);
    document.setEntry("metadata", "m", {
      value: { x: [1, { y: null }], z: "" },
      now: NOW,
    });
    set(document, "a", "1");
    const before = Y.encodeStateAsUpdate(document.ydoc);
    document.drainChanges();
    expect(set(document, "a", "1", NOW + 5)).toBeFalse();
    const reordered = { z: "", x: [1, { y: null }] };
    expect(document.setEntry("metadata", "m", { value: reordered, now: NOW + 5 })).toBeFalse();
    expect(Y.encodeStateAsUpdate(document.ydoc)).toEqual(before);
    expect(document.drainChanges().memoryKeys.size).toBe(0);
  });

  test("an equal write leaves conflicts, unless it settles them", () => {
    const [one, other] = [newDocument(1), newDocument(2)];
    set(one, "a", "1");
    set(other, "a", "2");
    exchangeAll([one, other]);
    expect(set(one, "a", "2")).toBeFalse();
    expect(idsOf(one, "a").length).toBe(2);
    const settled = one.setEntry("memories", "a", {
      value: "2",
      now: NOW,
      settles: true,
    });
    expect([settled, idsOf(one, "a").length]).toEqual([true, 1]);
  });

  test("a write is later than each that it replaces and keeps the oldest creation", () => {
    const document = newDocument(1);
    set(document, "a", "1", NOW);
    set(document, "a", "2", NOW - 1000);
    const [entry] = document.memories.get("a");
    expect([entry?.created_at, entry?.updated_at]).toEqual([NOW - 1000, NOW + 1]);
  });

  test("no clock makes a time that a timestamp can't name", () => {
    const document = newDocument(1);
    set(document, "a", "1", Number.MAX_VALUE);
    set(document, "a", "2", Number.MAX_VALUE);
    set(document, "b", "1", -1.5);
    expect(document.memories.get("a")[0]?.updated_at).toBe(ENTRY_TIME_MAX);
    expect(document.memories.get("b")[0]?.updated_at).toBe(0);
  });
});

describe("what the author saw", () => {
  test("a write replaces the entries in `seen` and no others", () => {
    const [one, other] = [newDocument(1), newDocument(2)];
    set(one, "a", "1");
    const seen = idsOf(one, "a");
    set(other, "a", "2", NOW + 1);
    exchangeAll([one, other]);
    one.setEntry("memories", "a", { value: "3", now: NOW + 2, seen });
    expect(one.memories.get("a").map(({ value }) => value)).toEqual(["3", "2"]);
  });

  test("a write that saw nothing conflicts with what is there, even with an equal value", () => {
    const document = newDocument(1);
    set(document, "a", "1");
    expect(document.setEntry("memories", "a", { value: "1", now: NOW, seen: [] })).toBeTrue();
    expect(document.memories.get("a").map(({ value }) => value)).toEqual(["1", "1"]);
  });

  test("what was seen and is gone needs no deletion", () => {
    const document = newDocument(1);
    set(document, "a", "1");
    const seen = idsOf(document, "a");
    document.deleteEntry("memories", "a");
    expect(document.deleteEntry("memories", "a", seen)).toBeFalse();
    document.setEntry("memories", "a", { value: "2", now: NOW, seen });
    expect(document.memories.get("a").map(({ value }) => value)).toEqual(["2"]);
  });

  test("a deletion takes the entries in `seen` and leaves a concurrent write", () => {
    const [one, other] = [newDocument(1), newDocument(2)];
    set(one, "a", "1");
    const seen = idsOf(one, "a");
    set(other, "a", "2");
    exchangeAll([one, other]);
    expect(one.deleteEntry("memories", "a", seen)).toBeTrue();
    expect(one.memories.get("a").map(({ value }) => value)).toEqual(["2"]);
  });
});

describe("text", () => {
  test("every text can be taken apart and put together again", () => {
    const piece = fc.constantFrom("\r", "\n", "\r\n", "\uFEFF", "a", "é😀", " ");
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(piece).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(text, (content) => {
        const { form, lines } = splitForm(content);
        expect(joinForm(lines, form)).toBe(content);
        expect(lines === "" || lines.endsWith("\n")).toBeTrue();
      }),
      { numRuns: 2000 },
    );
  });

  test("a document gives back every text that it is given, one after the other", () => {
    const piece = fc.constantFrom("\r", "\n", "\r\n", "\uFEFF", "a", "é😀", "line\n");
    const text = fc.array(piece, { maxLength: 12 }).map((all) => all.join(""));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (contents) => {
        const document = newDocument(1);
        for (const content of contents) {
          document.setContent(content, NOW);
          expect(document.content()).toBe(content);
          expect(document.setContent(content, NOW)).toBeFalse();
          expect(viewOf(reloaded(document))).toEqual(viewOf(document));
        }
      }),
    );
  });

  test("lone surrogates never differ between memory and what is stored", () => {
    const document = newDocument(1);
    document.setContent("a\ud800b\n", NOW);
    set(document, "k\udc00", "v\ud800");
    document.setEntry("metadata", "m", { value: { "k\ud800": ["\udfff"] }, now: NOW });
    expect(viewOf(reloaded(document))).toEqual(viewOf(document));
    expect(document.content()).toBe("a\ufffdb\n");
    expect(shownValue(document, "k\ufffd")).toBe("v\ufffd");
    expect(set(document, "k\ud800", "v\udc01")).toBeFalse();
  });
});

describe("loading", () => {
  test("a loaded document writes under the client id that it is given", () => {
    const document = newDocument(1);
    set(document, "a", "1");
    const update = Y.encodeStateAsUpdate(document.ydoc);
    const next = new ReplicaDocument([update], 2);
    set(next, "a", "2");
    expect(next.ydoc.clientID).toBe(2);
    expect(idsOf(next, "a")).toEqual([{ client: 2, clock: 0 }]);
    const same = new ReplicaDocument([update], 1);
    set(same, "a", "2");
    expect(idsOf(same, "a")).toEqual([{ client: 1, clock: 1 }]);
  });

  test("an update whose predecessor is missing is never a document", () => {
    const document = newDocument(1);
    set(document, "a", "1");
    const vector = Y.encodeStateVector(document.ydoc);
    set(document, "a", "2");
    const tail = Y.encodeStateAsUpdate(document.ydoc, vector);
    expect(() => new ReplicaDocument([tail], 2)).toThrow("predecessors are missing");
  });

  test("a key written 200,000 times concurrently is loaded and settled", () => {
    const flood = new Y.Doc();
    const entry = { key: "a", value: "1", created_at: NOW, updated_at: NOW };
    flood.getArray(`memories/${flood.clientID}`).push(Array.from({ length: 200_000 }, () => entry));
    const document = new ReplicaDocument([Y.encodeStateAsUpdate(flood)], 1);
    expect(document.memories.get("a").length).toBe(200_000);
    set(document, "a", "2");
    expect(document.memories.get("a").length).toBe(1);
  });
});

describe("the index", () => {
  const step = fc.record({
    replica: fc.nat(2),
    action: fc.oneof(
      { weight: 3, arbitrary: anyEdit },
      { weight: 1, arbitrary: fc.constant("twice" as const) },
      { weight: 2, arbitrary: fc.record({ take: fc.nat(1000) }) },
    ),
    late: fc.nat(3),
  });

  test("the index equals that of a fresh load whatever three replicas do and exchange", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const documents = [1, 2, 3].map(newDocument);
        const updates: Uint8Array[] = [];
        for (const document of documents) {
          document.ydoc.on("update", (update: Uint8Array, origin: unknown) => {
            if (origin !== "remote") updates.push(update);
          });
        }
        for (const { replica, action, late } of steps) {
          const document = documents[replica] as ReplicaDocument;
          if (action === "twice") for (const update of updates) apply(document, update);
          else if ("take" in action) apply(document, updates[action.take % updates.length]);
          else if (!document.hasPending()) applyEdit(document, action, NOW + late);
          if (!document.hasPending()) expect(viewOf(document)).toEqual(viewOf(reloaded(document)));
        }
        exchangeAll(documents);
        exchangeAll(documents);
        for (const document of documents) {
          expect(document.hasPending()).toBeFalse();
          expect(viewOf(document)).toEqual(viewOf(documents[0] as ReplicaDocument));
          expect(viewOf(document)).toEqual(viewOf(reloaded(document)));
        }
      }),
      { numRuns: 300 },
    );
  });
});

function apply(document: ReplicaDocument, update: Uint8Array | undefined): void {
  if (update) Y.applyUpdate(document.ydoc, update, "remote");
}
