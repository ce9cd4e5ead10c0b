import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import * as Y from "yjs";
import { LIMITS } from "../../shared/limits.ts";
import { admitInSteps, admitUpdate } from "../../shared/replica/admission/admit.ts";
import { ReplicaDocument } from "../../shared/replica/document/document.ts";
import { ENTRY_TIME_MAX } from "../../shared/replica/document/stored-value.ts";
import {
  admit,
  admitForged,
  admitItems,
  ENTRY,
  entry,
  HELD,
  heldDocument,
  insertion,
  metadata,
  NEW,
  OWN,
  takeIn,
} from "../support/admission.ts";
import { bare, CONTENT, forge, item, length, text, values } from "../support/forged-update.ts";
import { NOW } from "../support/replicas.ts";

// Generous, for machines that do other things besides.
setDefaultTimeout(60_000);

describe("what replicas send", () => {
  test("a write is admitted and adds; its deletions alone are admitted and do not", () => {
    expect(admitItems(entry({}))).toBe("admitted, adds: more");
    expect(admitItems(insertion({ origin: [HELD, 9] }))).toBe("admitted, adds: more");
    const deletions = [{ client: HELD, ranges: [[10, 1]] as const }];
    expect(admitForged({ deletions })).toBe("admitted, adds: nothing");
  });

  test("what is integrated already is admitted and adds nothing", () => {
    const document = heldDocument();
    const update = Y.encodeStateAsUpdate(document.ydoc);
    expect(admit(document, update)).toBe("admitted, adds: nothing");
    expect(admit(document, forge({}))).toBe("admitted, adds: nothing");
  });

  test("runs that later insertions of the same update cut into pieces are taken in", () => {
    const updates: Uint8Array[] = [];
    const write = (client: number, seen: readonly Uint8Array[], at: number, lines: string) => {
      const document = new ReplicaDocument(seen, client);
      document.ydoc.on("update", (update) => updates.push(update));
      document.text.insert(at, lines);
    };
    write(9, [], 0, "a1\na2\na3\na4\n");
    write(8, [], 0, "b1\nb2\n");
    // Between two runs that were concurrent, so that only a trial can tell; then inside of one.
    write(7, updates.slice(), 6, "between\n");
    const isFirst = new ReplicaDocument(updates, OWN).content().startsWith("a");
    write(6, updates.slice(), (isFirst ? 0 : 14) + 3, "cut\n");
    write(5, updates.slice(0, 1), 9, "behind the cut\n");
    const update = Y.mergeUpdates(updates);
    expect(admit(new ReplicaDocument([], OWN), update)).toBe("admitted, adds: more");
  });

  test("every honest update is admitted, in any merge that keeps each client's order", () => {
    const step = fc.tuple(fc.nat(2), fc.nat(5), fc.nat(30));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const documents = [1, 2, 3].map((client) => new ReplicaDocument([], client));
        for (const [replica, action, place] of steps) {
          const document = documents[replica] as ReplicaDocument;
          const lines = document.content().split(/(?<=\n)/);
          if (action === 0) lines.splice(place % (lines.length + 1), 2);
          else lines.splice(place % (lines.length + 1), action % 2, `line ${place}\n`);
          if (action < 4) document.setContent(lines.join(""), NOW);
          else pull(document, documents[place % 3] as ReplicaDocument, action === 5);
        }
        for (const from of documents) for (const to of documents) pull(to, from, false);
        const contents = documents.map((document) => document.content());
        expect(new Set(contents).size).toBe(1);
      }),
      { numRuns: 200 },
    );
  });
});

function pull(to: ReplicaDocument, from: ReplicaDocument, whole: boolean): void {
  const vector = whole ? undefined : Y.encodeStateVector(to.ydoc);
  const update = Y.encodeStateAsUpdate(from.ydoc, vector);
  expect(admitUpdate(to, update, to.ydoc.clientID).kind).toBe("admitted");
  Y.applyUpdate(to.ydoc, update, "remote");
}

describe("what builds on something that is lacking is missing", () => {
  test("an update without a predecessor of the same client is missing it", () => {
    const structs = [item(insertion({ origin: [HELD, 9] }))];
    expect(admitForged({ sections: [{ client: NEW, clock: 1, structs }] })).toBe("missing");
    expect(admitForged({ sections: [{ client: HELD, clock: 14, structs }] })).toBe("missing");
  });

  test("an update with a gap inside is missing what it builds on", () => {
    const structs = [item(entry({})), bare(CONTENT.skip, 3), item(entry({ key: "other" }))];
    expect(admitForged({ sections: [{ client: NEW, clock: 0, structs }] })).toBe("missing");
  });

  test("an item whose neighbour is lacking is missing that", () => {
    expect(admitItems(insertion({ origin: [9, 0] }))).toBe("missing");
    expect(admitItems(insertion({ rightOrigin: [HELD, 99] }))).toBe("missing");
  });

  test("a deletion whose target is lacking, or a part of it, is missing that, even an empty one", () => {
    for (const range of [
      [12, 1],
      [11, 2],
      [12, 0],
    ] as const) {
      expect(admitForged({ deletions: [{ client: HELD, ranges: [range] }] })).toBe("missing");
    }
    expect(admitForged({ deletions: [{ client: 9, ranges: [[0, 1]] }] })).toBe("missing");
  });
});

describe("what no replica writes is refused", () => {
  test("roots, maps and nested types that no replica writes are refused", () => {
    const outside = "it writes outside the document's roots";
    expect(admitItems(insertion({ parent: "other" }))).toBe(outside);
    expect(admitItems({ ...entry({}), parent: "memories" })).toBe(outside);
    expect(admitItems({ ...entry({}), parent: `memories/0${NEW}` })).toBe(outside);
    expect(admitItems(insertion({ parent: [HELD, 0] }))).toBe(outside);
    expect(admitItems(insertion({ parentSub: "key" }))).toContain("writes a map");
    const nested = { ref: CONTENT.type, parent: `memories/${NEW}`, content: length(0) };
    expect(admitItems(nested)).toContain("something other than entries");
    expect(admitItems({ ...nested, parent: "claude_md" })).toContain("other than characters");
  });

  test("anything but characters in the text is refused", () => {
    const embed = { ref: CONTENT.embed, content: text('{"a":1}') };
    const format = {
      ref: CONTENT.format,
      content: (encoder: Y.UpdateEncoderV1) => {
        encoder.writeKey("bold");
        encoder.writeJSON(true);
      },
    };
    const binary = { ref: CONTENT.binary, content: text("abc") };
    for (const foreign of [embed, format, binary, { ...entry({}), parent: "claude_md" }]) {
      expect(admitItems(foreign)).toContain("something other than characters");
    }
    expect(admitItems(insertion({ content: text("a\0") }))).toContain("NUL");
  });

  test("an entry outside of its client's own array, or put between others, is refused", () => {
    const foreign = "an entry stands in another client's array";
    expect(admitItems({ ...entry({}), parent: `memories/${HELD}` })).toBe(foreign);
    const beside = { ref: CONTENT.any, content: values(ENTRY) };
    expect(admitItems({ ...beside, origin: [HELD, 10] })).toBe(foreign);
    const before = { ...beside, rightOrigin: [NEW, 0] as const };
    expect(admitItems(entry({}), before)).toBe("an entry is not appended");
  });

  test("neighbours in two roots, or in the wrong order, are refused", () => {
    const torn = insertion({ origin: [NEW, 1], rightOrigin: [NEW, 2] });
    const message = "outside the document's roots";
    expect(admitItems(insertion({ origin: [HELD, 9] }), entry({}), torn)).toContain(message);
    const reversed = insertion({ origin: [HELD, 8], rightOrigin: [HELD, 3] });
    expect(admitItems(reversed)).toContain("before what is on its left");
    const same = insertion({ origin: [HELD, 3], rightOrigin: [HELD, 3] });
    expect(admitItems(same)).toContain("before what is on its left");
  });

  test("structures that continue another root than the held ones do are refused", () => {
    const structs = [item({ ...insertion({}), content: text("abcdef") })];
    const held = [item({ ref: CONTENT.any, parent: `memories/${HELD}`, content: values(1, 2, 3) })];
    const message = "outside the document's roots";
    expect(admitForged({ sections: [{ client: HELD, clock: 11, structs }] })).toContain(message);
    expect(admitForged({ sections: [{ client: HELD, clock: 9, structs: held }] })).not.toContain(
      "admitted",
    );
  });

  test("references that run in a circle, or ahead, are refused", () => {
    const circle = "refer to each other in a circle";
    const one = [item(insertion({ origin: [5, 0] }))];
    const other = [item(insertion({ origin: [NEW, 0] }))];
    const sections = [
      { client: NEW, clock: 0, structs: one },
      { client: 5, clock: 0, structs: other },
    ];
    expect(admitForged({ sections })).toContain(circle);
    expect(admitItems(insertion({ origin: [NEW, 2] }), insertion({}))).toContain(circle);
    expect(admitItems(insertion({ rightOrigin: [NEW, 0] }))).toContain(circle);
  });

  test("references across clients are followed in the order that they need", () => {
    const sections = [
      { client: 4, clock: 0, structs: [item(insertion({ origin: [5, 3] }))] },
      {
        client: 5,
        clock: 0,
        structs: [item(insertion({ origin: [HELD, 9] })), item(insertion({ origin: [6, 1] }))],
      },
      { client: 6, clock: 0, structs: [item(insertion({ origin: [5, 1] }))] },
    ];
    const document = heldDocument();
    const update = forge({ sections });
    expect(admit(document, update)).toBe("admitted, adds: more");
    takeIn(document, update);
  });

  test("garbage, empty structures, and lengths and ids out of all proportion are refused", () => {
    const garbage = { client: NEW, clock: 0, structs: [bare(CONTENT.gc, 3)] };
    expect(admitForged({ sections: [garbage] })).toContain("no replica writes");
    for (const clocks of [2 ** 30 + 1, 2 ** 50, Number.MAX_SAFE_INTEGER]) {
      const deleted = { ref: CONTENT.deleted, origin: [HELD, 9] as const, content: length(clocks) };
      expect(admitItems(deleted)).toContain("jumps too far");
      const collected = { client: NEW, clock: 0, structs: [bare(CONTENT.gc, clocks)] };
      expect(admitForged({ sections: [collected] })).toContain("jumps too far");
    }
    expect(admitItems({ ref: CONTENT.deleted, content: length(0) })).toContain("empty structure");
    expect(admitItems(insertion({ content: text("") }))).toContain("empty structure");
    const far = { client: 2 ** 32, clock: 0, structs: [item(insertion({}))] };
    expect(admitForged({ sections: [far] })).toContain("32 bits");
  });

  test("what comes under this replica's own client id is refused, unless it is an echo", () => {
    const document = heldDocument();
    document.setEntry("memories", "mine", { value: "1", now: NOW });
    const own = { ...entry({}), parent: `memories/${OWN}` };
    const forged = forge({ sections: [{ client: OWN, clock: 1, structs: [item(own)] }] });
    expect(admit(document, forged)).toContain("own client id");
    const echo = Y.encodeStateAsUpdate(document.ydoc);
    expect(admit(document, echo)).toBe("admitted, adds: nothing");
  });

  test("what cuts through a surrogate pair is refused", () => {
    const cut = "it cuts a character apart";
    expect(admitItems(insertion({ origin: [HELD, 6], rightOrigin: [HELD, 7] }))).toBe(cut);
    expect(admitForged({ deletions: [{ client: HELD, ranges: [[5, 2]] }] })).toBe(cut);
    expect(admitForged({ deletions: [{ client: HELD, ranges: [[7, 2]] }] })).toBe(cut);
    expect(admitForged({ deletions: [{ client: HELD, ranges: [[6, 2]] }] })).toContain("admitted");
  });
});

describe("entries", () => {
  test("entries of bad shapes are refused", () => {
    const shapes: [string, Readonly<Record<string, unknown>>][] = [
      ["key", { key: "" }],
      ["key", { key: 1 }],
      ["key", { key: "a\0" }],
      ["key", { key: "k".repeat(LIMITS.memoryKeyBytes + 1) }],
      ["value", { value: null }],
      ["value", { value: { text: "v" } }],
      ["value", { value: "v".repeat(LIMITS.memoryValueBytes + 1) }],
      ["value", { value: `${"é".repeat(LIMITS.memoryValueBytes / 2)}a` }],
      ["time", { created_at: "2026" }],
      ["time", { created_at: -1 }],
      ["time", { updated_at: 0.5 }],
      ["time", { updated_at: ENTRY_TIME_MAX + 1 }],
      ["time", { updated_at: Number.NaN }],
      ["field too many", { extra: "x" }],
      ["source", { source: "s".repeat(1000) }],
    ];
    for (const [message, change] of shapes) expect(admitItems(entry(change))).toContain(message);
    for (const bad of [1, "text", null, [ENTRY], true]) {
      expect(admitItems({ ...entry({}), content: values(bad) })).toContain("not an object");
    }
    expect(admitItems({ ...entry({}), content: values(ENTRY, 1) })).toContain("not an object");
    expect(admitItems(entry({ source: "cli" }))).toContain("admitted");
  });

  test("whose fields come from a replaced prototype are refused", () => {
    const inherits = { ref: CONTENT.any, parent: `memories/${NEW}`, content: values({}) };
    const bytes = (encoder: Y.UpdateEncoderV1) => {
      encoder.writeLen(1);
      // An object (118) of one field, `__proto__`, that is the entry: `writeAny` would drop it.
      encoder.writeInfo(118);
      encoder.writeLen(1);
      encoder.writeString("__proto__");
      encoder.writeAny(ENTRY);
    };
    expect(admitItems({ ...inherits, content: bytes })).toContain("not an object");
    expect(admitItems({ ...inherits, parent: `metadata/${NEW}`, content: bytes })).toContain(
      "not an object",
    );
  });

  test("metadata is JSON, of bounded depth and length", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { inner: nested(levels - 1) });
    for (const sound of [null, 1.5, "", [1, [{}]], { a: null }, nested(LIMITS.metadataDepth)]) {
      expect(admitItems(metadata(sound))).toContain("admitted");
    }
    const unsound = [undefined, 1n, new Uint8Array(2), Number.NaN, Infinity, "\0", { "\0": 1 }];
    for (const value of [...unsound, [undefined], nested(LIMITS.metadataDepth + 1)]) {
      expect(admitItems(metadata(value))).toContain("not JSON or nests too deep");
    }
    expect(admitItems(metadata("x".repeat(LIMITS.metadataBytes)))).toContain("too long");
    const longKey = { ...ENTRY, key: "k".repeat(LIMITS.memoryKeyBytes + 1) };
    expect(admitItems({ ...metadata(1), content: values(longKey) })).toContain("admitted");
    const reserved = { ...ENTRY, key: "__proto__" };
    expect(admitItems({ ...metadata(1), content: values(reserved) })).not.toContain("admitted");
  });

  test("5,000 nested arrays are refused, and so are five million", () => {
    for (const depth of [5_000, 5_000_000]) {
      const content = (encoder: Y.UpdateEncoderV1) => {
        encoder.writeLen(1);
        // An array (117) of one, many times; then null (126).
        for (let level = 0; level < depth; level++) {
          encoder.writeInfo(117);
          encoder.writeInfo(1);
        }
        encoder.writeInfo(126);
      };
      expect(admitItems({ ...metadata(1), content })).not.toContain("admitted");
    }
  });
});

describe("bytes that are no update", () => {
  test("an update in the other encoding is refused, not taken for an empty one", () => {
    const document = heldDocument();
    const v2 = Y.encodeStateAsUpdateV2(document.ydoc);
    expect(admit(document, v2)).toContain("does not decode");
    expect(admit(document, Y.encodeStateAsUpdateV2(new Y.Doc()))).toContain("does not decode");
  });

  test("an update with bytes behind it, without some, or none at all, is refused", () => {
    const update = Y.encodeStateAsUpdate(heldDocument().ydoc);
    expect(admit(heldDocument(), Uint8Array.of(...update, 0))).toContain("another length");
    for (let end = 0; end < update.length; end++) {
      expect(admit(heldDocument(), update.slice(0, end))).toContain("does not decode");
    }
  });

  test("a length that reaches beyond the update never reads what lies there", () => {
    const update = forge({ sections: [{ client: NEW, clock: 0, structs: [item(insertion({}))] }] });
    const at = update.indexOf("x".charCodeAt(0)) - 1;
    const pool = new Uint8Array(4096).fill("S".charCodeAt(0));
    pool.set(update, 100);
    pool[100 + at] = 100;
    const view = pool.subarray(100, 100 + update.length);
    expect(admit(heldDocument(), view)).toContain("does not decode");
  });

  test("two sections of one client, of which Yjs would take the last alone", () => {
    const structs = [item(insertion({}))];
    const sections = [
      { client: NEW, clock: 0, structs },
      { client: NEW, clock: 2, structs },
    ];
    expect(admitForged({ sections })).toContain("empty or doubled");
    expect(admitForged({ sections: [{ client: NEW, clock: 0, structs: [] }] })).toContain("empty");
  });
});

const PIECES = 20_000;

/** A document whose text was typed in many places, and what a second one has typed there since. */
function manyPieces(): { readonly before: Uint8Array; readonly after: Uint8Array } {
  const one = new ReplicaDocument([], 77);
  one.ydoc.transact(() => {
    for (let at = 0; at < PIECES; at += 1) one.text.insert((at * 31) % (at + 1), "ab");
  });
  const before = Y.encodeStateAsUpdate(one.ydoc);
  const other = new ReplicaDocument([before], 78);
  for (let at = 0; at < PIECES; at += 200) other.text.insert(at, "c");
  return { before, after: Y.encodeStateAsUpdate(other.ydoc) };
}

test.each([
  ["all of it", false],
  ["what others added to it", true],
])("a text of many pieces is admitted in many steps: %s", (_, isKnown) => {
  const { before, after } = manyPieces();
  const document = new ReplicaDocument(isKnown ? [before] : [], OWN);
  const steps = admitInSteps(document, after, OWN);
  let taken = 1;
  let step = steps.next();
  for (; !step.done; step = steps.next()) taken += 1;
  expect(step.value).toMatchObject({ kind: "admitted", adds: "more" });
  expect(taken).toBeGreaterThan(PIECES / 2048);
});
