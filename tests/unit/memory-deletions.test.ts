import { expect, setDefaultTimeout, test } from "bun:test";
import * as Y from "yjs";
import { applyItems } from "../../daemon/plain/apply-items.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import {
  dismissLosers,
  isByItsAuthor,
  removeMemory,
} from "../../shared/replica/document/memory-deletion.ts";
import { REMOVED_PREFIX } from "../../shared/replica/document/own-metadata.ts";
import { deleteProject } from "../../shared/replica/document/project-deletion.ts";
import { pick, seededRandom } from "../support/random.ts";
import { exchangeAll, idsOf, NOW } from "../support/replicas.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

const KEY = "a";

function pair(): [ReplicaDocument, ReplicaDocument] {
  const documents: [ReplicaDocument, ReplicaDocument] = [
    new ReplicaDocument([], 1),
    new ReplicaDocument([], 2),
  ];
  documents[0].setEntry("memories", KEY, { value: "base", now: NOW });
  exchangeAll(documents);
  return documents;
}

function valuesOf(document: ReplicaDocument): unknown[] {
  return document.memories.get(KEY).map(({ value }) => value);
}

test("a deletion and a write that had not seen each other both stand, on every replica", () => {
  const documents = pair();
  const [writer, deleter] = documents;
  const seen = idsOf(deleter, KEY);
  writer.setEntry("memories", KEY, { value: "new", now: NOW + 1 });
  expect(removeMemory(deleter, { key: KEY, now: NOW + 2, seen })).toBeTrue();
  exchangeAll(documents);
  for (const document of documents) {
    expect(valuesOf(document)).toEqual(["new"]);
    expect(document.deletionsOf(KEY)).toMatchObject([{ id: { client: 2 }, updated_at: NOW + 2 }]);
  }
});

test("a deletion of what was written over before it was applied is told as well", () => {
  const [writer, deleter] = pair();
  const seen = idsOf(deleter, KEY);
  writer.setEntry("memories", KEY, { value: "new", now: NOW + 1 });
  exchangeAll([writer, deleter]);
  expect(removeMemory(deleter, { key: KEY, now: NOW + 2, seen })).toBeTrue();
  expect([valuesOf(deleter), deleter.deletionsOf(KEY).length]).toEqual([["new"], 1]);
});

test("a deletion is not earlier than what it has deleted, whatever the clock says", () => {
  const [deleter] = pair();
  removeMemory(deleter, { key: KEY, now: NOW - 2 * 24 * 3_600_000 });
  expect(deleter.deletionsOf(KEY)).toMatchObject([{ updated_at: NOW }]);
});

test("a deletion that has seen the write, and a write that has seen the deletion, are none", () => {
  const documents = pair();
  const [writer, deleter] = documents;
  removeMemory(deleter, { key: KEY, now: NOW + 1 });
  exchangeAll(documents);
  expect(valuesOf(writer)).toEqual([]);
  writer.setEntry("memories", KEY, { value: "anew", now: NOW + 2, seen: [] });
  exchangeAll(documents);
  for (const document of documents) {
    expect([valuesOf(document), document.deletionsOf(KEY)]).toEqual([["anew"], []]);
  }
});

test("a write that names what it saw leaves a deletion that came since", () => {
  const documents = pair();
  const [writer, deleter] = documents;
  const seen = idsOf(writer, KEY);
  removeMemory(deleter, { key: KEY, now: NOW + 1 });
  exchangeAll(documents);
  writer.setEntry("memories", KEY, { value: "late", now: NOW + 2, seen });
  expect(writer.deletionsOf(KEY)).toHaveLength(1);
  // An equal value is no write, but one that settles.
  const again = { value: "late", now: NOW + 3 };
  expect(writer.setEntry("memories", KEY, again)).toBeFalse();
  expect(writer.setEntry("memories", KEY, { ...again, settles: true })).toBeTrue();
  expect([valuesOf(writer), writer.deletionsOf(KEY)]).toEqual([["late"], []]);
});

/** The document of a machine that dismisses a deletion beside `value`, whatever comes meanwhile. */
function dismissed(document: ReplicaDocument, now: number): boolean {
  const seen = document.deletionsOf(KEY).map(({ id }) => id);
  return dismissLosers(document, { key: KEY, now, seen });
}

test("what is to stay stays where another machine deletes it after all, and that is told", () => {
  const documents = pair();
  const [writer, deleter] = documents;
  writer.setEntry("memories", KEY, { value: "new", now: NOW + 1 });
  removeMemory(deleter, { key: KEY, now: NOW + 2 });
  exchangeAll(documents);
  expect(dismissed(writer, NOW + 3)).toBeTrue();
  expect([valuesOf(writer), writer.deletionsOf(KEY)]).toEqual([["new"], []]);
  removeMemory(deleter, { key: KEY, now: NOW + 4 });
  exchangeAll(documents);
  for (const document of documents) {
    expect([valuesOf(document), document.deletionsOf(KEY).length]).toEqual([["new"], 1]);
  }
});

test("a deletion is dismissed without what lost besides, and of nothing nothing is written", () => {
  const documents = pair();
  const [writer, deleter] = documents;
  const third = new ReplicaDocument([Y.encodeStateAsUpdate(deleter.ydoc)], 3);
  writer.setEntry("memories", KEY, { value: "new", now: NOW + 9 });
  third.setEntry("memories", KEY, { value: "other", now: NOW });
  removeMemory(deleter, { key: KEY, now: NOW + 2 });
  exchangeAll([writer, deleter, third]);
  expect(dismissed(writer, NOW + 13)).toBeTrue();
  expect([valuesOf(writer), writer.deletionsOf(KEY)]).toEqual([["new", "other"], []]);
  removeMemory(writer, { key: KEY, now: NOW + 14 });
  expect(dismissed(writer, NOW + 15)).toBeFalse();
  expect([valuesOf(writer), writer.deletionsOf(KEY).length]).toEqual([[], 1]);
});

/** What the document of a machine at a service of others makes of what that shows. */
function shownThere(document: ReplicaDocument, value: string | undefined): void {
  const item = { id: "mem_a", createdAt: null };
  applyItems(document, "memories", {
    known: {
      memories: new Map([[KEY, { ...item, value: "base", seen: true }]]),
      metadata: new Map(),
      sent: [],
    },
    shown: {
      items: new Map(value === undefined ? [] : [[KEY, { ...item, value }]]),
      complete: true,
    },
    putBack: false,
    now: NOW + 2,
  });
}

test("a deletion that a write here undoes is told, at a service of others, too", () => {
  const [document] = pair();
  document.setEntry("memories", KEY, { value: "new", now: NOW + 1 });
  shownThere(document, undefined);
  expect(valuesOf(document)).toEqual(["new"]);
  expect(document.deletionsOf(KEY).map(isByItsAuthor)).toEqual([false]);
});

test("a deletion here that a write there undoes is told, at a service of others, too", () => {
  const [document] = pair();
  removeMemory(document, { key: KEY, now: NOW + 1 });
  shownThere(document, "new");
  expect(valuesOf(document)).toEqual(["new"]);
  expect(document.deletionsOf(KEY).map(isByItsAuthor)).toEqual([true]);
});

test("what was saved here before others' deletion came is told, at a service of others, too", () => {
  const [document] = pair();
  const seen = idsOf(document, KEY);
  shownThere(document, undefined);
  expect(valuesOf(document)).toEqual([]);
  document.setEntry("memories", KEY, { value: "late", now: NOW + 3, seen });
  expect(document.deletionsOf(KEY)).toHaveLength(1);
});

test("only so many deletions are told of, and none is forgotten that a write stands against", () => {
  const [writer, deleter] = pair();
  writer.setEntry("memories", KEY, { value: "new", now: NOW + 1 });
  removeMemory(deleter, { key: KEY, now: NOW });
  exchangeAll([writer, deleter]);
  for (let at = 0; at < 600; at++) {
    deleter.setEntry("memories", `key ${at}`, { value: "v", now: NOW + at });
    removeMemory(deleter, { key: `key ${at}`, now: NOW + at });
  }
  const told = [...deleter.metadata.keys()].filter((key) => key.startsWith(REMOVED_PREFIX));
  expect(told).toHaveLength(501);
  expect(deleter.deletionsOf(KEY)).toHaveLength(1);
  expect([deleter.deletionsOf("key 99"), deleter.deletionsOf("key 100").length]).toEqual([[], 1]);
});

test("a deleted project tells of no memory", async () => {
  const [document] = pair();
  removeMemory(document, { key: KEY, now: NOW });
  await deleteProject(document, NOW);
  expect(document.deletionsOf(KEY)).toEqual([]);
});

/** What somebody did, on a replica that had integrated `saw`. */
interface Deed {
  readonly value: string | undefined;
  readonly saw: ReadonlySet<Deed>;
}

const SEEDS = Array.from({ length: 60 }, (_, at) => 1000 + at);

test.each(SEEDS)(
  "no deletion is undone untold, whatever meets in which order (seed %d)",
  (seed) => {
    const random = seededRandom(seed);
    const replicas = [1, 2, 3].map((client) => ({
      document: new ReplicaDocument([], client),
      has: new Set<Deed>(),
    }));
    const deeds: Deed[] = [];
    const meet = (one: (typeof replicas)[0], other: (typeof replicas)[0]) => {
      Y.applyUpdate(other.document.ydoc, Y.encodeStateAsUpdate(one.document.ydoc), "remote");
      for (const deed of one.has) other.has.add(deed);
    };
    for (let at = 0; at < 40; at++) {
      const [one, other] = [pick(random, replicas), pick(random, replicas)];
      const now = NOW + Math.floor(random() * 100);
      const drawn = random();
      if (drawn < 0.5) {
        if (one !== other) meet(one, other);
        continue;
      }
      const deed = { value: drawn < 0.8 ? `${at}` : undefined, saw: new Set(one.has) };
      const { value } = deed;
      if (value !== undefined) one.document.setEntry("memories", KEY, { value, now });
      else if (!removeMemory(one.document, { key: KEY, now })) continue;
      one.has.add(deed);
      deeds.push(deed);
    }
    for (let round = 0; round < 2; round++) {
      for (const one of replicas) for (const other of replicas) if (one !== other) meet(one, other);
    }
    const standing = deeds.filter((deed) => !deeds.some(({ saw }) => saw.has(deed)));
    const written = standing.flatMap(({ value }) => value ?? []).sort();
    const deletions = standing.filter(({ value }) => value === undefined).length;
    for (const { document } of replicas) {
      expect(valuesOf(document).map(String).sort()).toEqual(written);
      expect(document.deletionsOf(KEY)).toHaveLength(deletions);
    }
  },
);
