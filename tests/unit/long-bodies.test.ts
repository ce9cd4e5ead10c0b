import { expect, test } from "bun:test";
import fc from "fast-check";
import { answerLong } from "../../server/http/answer.ts";
import { JsonScan } from "../../server/http/json-scan.ts";
import { parseScanned } from "../../server/http/parse-scanned.ts";
import { AppError } from "../../shared/errors.ts";
import { LIMITS } from "../../shared/limits.ts";
import { NO_PAUSE } from "../../shared/turns.ts";
import { decodeBase64, encodeBase64 } from "../../shared/wire/base64.ts";
import { parseLongSync, parseSyncPayload } from "../../shared/wire/sync.ts";
import { failureOf } from "../support/failure.ts";

const RUNS = { numRuns: 400, seed: 14 };

const UNREADABLE = "it is not JSON";

/** Parses in pieces of a few bytes, scanned by as few. */
async function parsePieces(bytes: Uint8Array): Promise<unknown> {
  const scan = new JsonScan(bytes, { pieceBytes: 5 });
  while (!scan.isDone) scan.advance(3);
  try {
    return { json: JSON.stringify((await parseScanned(bytes, scan, NO_PAUSE)).value) };
  } catch {
    return UNREADABLE;
  }
}

function parseWhole(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { json: JSON.stringify(JSON.parse(text)) };
  } catch {
    return UNREADABLE;
  }
}

const item = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('a "quoted" word', "\\", '\\"', "[1,2]", "},{", "é😀", "\u2028"),
  fc.record({ key: fc.string(), value: fc.string() }),
);
const body = fc.dictionary(
  fc.constantFrom("memories", "sessions", "metadata", "__proto__", "0"),
  fc.oneof(fc.array(item, { maxLength: 8 }), item),
);
const written = fc.tuple(body, fc.constantFrom(undefined, 1)).map(([value, indent]) => {
  return JSON.stringify(value, undefined, indent);
});

test("a long body is parsed by pieces to what it is in one", async () => {
  await fc.assert(
    fc.asyncProperty(written, async (text) => {
      const bytes = new TextEncoder().encode(text);
      expect(await parsePieces(bytes)).toEqual(parseWhole(bytes));
    }),
    RUNS,
  );
});

/** Texts over this length are parsed apart. */
const LONG_TEXT = 9;

/** What stands in a value for a text that was parsed apart. */
const STAND_IN = "a text of its own";

/** The value with `STAND_IN` for such texts, and what is base64 among them. */
async function parseApart(bytes: Uint8Array): Promise<unknown> {
  const scan = new JsonScan(bytes, { pieceBytes: 5, longTextBytes: LONG_TEXT });
  while (!scan.isDone) scan.advance(3);
  try {
    const { value, binaries } = await parseScanned(bytes, scan, NO_PAUSE);
    const json = JSON.stringify(value, (_, each) => {
      return typeof each === "string" && each.length > LIMITS.claudeMdBytes ? STAND_IN : each;
    });
    return { json, held: [...binaries.values()].map(encodeBase64) };
  } catch {
    return UNREADABLE;
  }
}

/** The same by what the runtime parses. */
function apartOf(text: string): unknown {
  const held: string[] = [];
  const parsed = parseWhole(new TextEncoder().encode(text));
  if (parsed === UNREADABLE) return UNREADABLE;
  // A field that is there twice is in no value, and its text is parsed nevertheless.
  const texts = [...text.matchAll(/"((?:[^"\\]|\\.)*)"(:)?/g)];
  const long = texts.flatMap(([, inner = "", colon]) => {
    return colon === undefined && Buffer.byteLength(inner) > LONG_TEXT ? [inner] : [];
  });
  const parsedLong = long.map((inner) => String(JSON.parse(`"${inner}"`)));
  for (const each of parsedLong) if (decodeBase64(each)) held.push(each);
  const json = JSON.stringify(JSON.parse(text), (_, each) => {
    return typeof each === "string" && parsedLong.includes(each) ? STAND_IN : each;
  });
  return { json, held };
}

const longItem = fc.oneof(
  item,
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  fc.constantFrom(
    "AAAA".repeat(9),
    "AA==".repeat(4),
    "////++++////",
    "é".repeat(9),
    '\\"'.repeat(6),
  ),
);
const longBody = fc.dictionary(
  fc.constantFrom("crdt", "memories", "a name of many letters"),
  fc.oneof(fc.array(longItem, { maxLength: 5 }), longItem, fc.record({ update: longItem })),
);
const slashed = fc.tuple(longBody, fc.boolean()).map(([value, escapes]) => {
  const text = JSON.stringify(value);
  return escapes ? text.replaceAll("/", "\\/").replaceAll("é", "\\u00e9") : text;
});

test("a long text is parsed apart to what it is in one, in base64 to its bytes", async () => {
  await fc.assert(
    fc.asyncProperty(slashed, async (text) => {
      expect(await parseApart(new TextEncoder().encode(text))).toEqual(apartOf(text));
    }),
    { ...RUNS, numRuns: 100 },
  );
});

/** The bytes, and how many of them have been read one by one. */
function counting(text: string): { readonly bytes: Uint8Array; readonly read: () => number } {
  let read = 0;
  const bytes = new Proxy(new TextEncoder().encode(text), {
    get(target, name) {
      read += 1;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { bytes, read: () => read };
}

test("however many blanks follow a long text, they are passed a turn's share at a time", () => {
  const { bytes, read } = counting(`{"a long name"${" ".repeat(100_000)}: "a long text"}`);
  const scan = new JsonScan(bytes, { longTextBytes: 5 });
  scan.advance(100);
  expect(read()).toBeLessThan(1000);
  while (!scan.isDone) scan.advance(10_000);
  const texts = scan.longTexts.map(({ start, end }) => bytes.subarray(start, end).toString());
  expect(texts).toEqual([new TextEncoder().encode("a long text").toString()]);
});

test("a long text is looked through by as much as is asked for, whether or not it ends", () => {
  const long = "A".repeat(5000);
  for (const text of [
    `${long}"}`,
    `${long}\\""}`,
    long,
    `${long}\\"${long}\\\\"}`,
    `${"\\".repeat(5000)}"}`,
    `${"\\".repeat(5001)}""}`,
    `${'\\"'.repeat(2500)}"}`,
  ]) {
    const { bytes, read } = counting(`{"a":"${text}`);
    const scan = new JsonScan(bytes, { longTextBytes: 100 });
    let advances = 0;
    for (; !scan.isDone; advances++) {
      const before = read();
      scan.advance(500);
      expect(read() - before).toBeLessThan(2000);
    }
    expect(advances).toBe(Math.ceil(bytes.length / 500));
    const unended = text === long ? 0 : '"}'.length;
    expect(scan.longTexts).toEqual([{ start: 6, end: bytes.length - unended }]);
  }
});

test("a long text that is no JSON is refused", async () => {
  for (const inner of ["\u0001", "\\x", "\\u12g4", "\\u123g"]) {
    for (const before of [0, 65_530, 65_533, 65_536]) {
      const text = `{"a":"${"A".repeat(before)}${inner}${"A".repeat(20)}"}`;
      const bytes = new TextEncoder().encode(text);
      expect([inner, before, await parseApart(bytes)]).toEqual([inner, before, UNREADABLE]);
    }
  }
  const cut = new TextEncoder().encode(`{"a":"${"A".repeat(65_535)}é${"A".repeat(20)}"}`);
  expect(await parseApart(cut)).not.toBe(UNREADABLE);
  expect(await parseApart(cut.with(cut.indexOf(0xc3), 0x41))).toBe(UNREADABLE);
});

test("a text of many pieces is parsed as one", async () => {
  for (const unit of [
    "A",
    "AAAA/+8B",
    "\\/",
    "A\\/",
    "\\u0041",
    "\\\\",
    '\\"',
    "é",
    "😀",
    "AB==",
  ]) {
    const text = `{"update":"${unit.repeat(Math.ceil(200_000 / unit.length))}"}`;
    expect(await parseApart(new TextEncoder().encode(text))).toEqual(apartOf(text));
  }
});

test("by pieces as in one, what is no JSON is refused", async () => {
  const splice = fc.record({
    at: fc.nat(),
    removed: fc.nat({ max: 3 }),
    added: fc.constantFrom("", ",", "[", "]", "{", "}", '"', "\\", ":", " ", "1", "\uFEFF", "[]"),
  });
  await fc.assert(
    fc.asyncProperty(written, splice, async (text, { at, removed, added }) => {
      const place = at % (text.length + 1);
      const changed = text.slice(0, place) + added + text.slice(place + removed);
      const bytes = new TextEncoder().encode(changed);
      expect(await parsePieces(bytes)).toEqual(parseWhole(bytes));
    }),
    { ...RUNS, numRuns: 2000 },
  );
  const odd = [
    '{"a":[1,2,3,4,5,6],"a":[7,8,9,10]}',
    '{"a":[1,2,3,4,5,,6]}',
    '{"a":[1,2,3,4,5,6,]}',
    '{"a":[1,2,3,4,5,6}}',
    '{"a":[1,2,3,4,5,6]}{}',
    '{"a":[1,2,3,\uFEFF4,5,6]}',
    '\uFEFF{"a":[1,2,3,4,5,6]}',
    '[["a","b","c","d"],["e"]]',
  ];
  for (const text of odd) {
    const bytes = new TextEncoder().encode(text);
    expect(await parsePieces(bytes)).toEqual(parseWhole(bytes));
  }
  const broken = Buffer.concat([Buffer.from('{"a":["abcdef",'), Buffer.from([0xff, 0x22])]);
  expect(await parsePieces(broken)).toBe(UNREADABLE);
});

const sessionOf = (at: number) => ({
  id: `sess_${at}`,
  source: "test",
  started_at: "2026-01-01T00:00:00.000Z",
  last_activity_at: "2026-01-01T00:00:00.000Z",
  message_count: at,
});

test("a long sync is checked in parts to what it is in one, and pauses between", async () => {
  const memories = Array.from({ length: 1500 }, (_, at) => ({ key: `k${at}`, value: "v", x: 1 }));
  const sessions = Array.from({ length: 700 }, (_, at) => sessionOf(at));
  const rest = { claude_md_content: "text", metadata: { a: { b: 1 } }, unknown: [1] };
  for (const body of [{ ...rest, memories, sessions }, { memories }, { ...rest, sessions }, rest]) {
    let pauses = 0;
    const pause = async () => void pauses++;
    expect(await parseLongSync(body, pause)).toEqual(parseSyncPayload(body));
    expect(pauses).toBeGreaterThanOrEqual("memories" in body ? 5 : "sessions" in body ? 2 : 0);
  }
});

test("what is wrong in a long sync is told as of any", async () => {
  const memories = Array.from({ length: 1500 }, (_, at) => ({ key: `k${at}`, value: "v" }));
  const wrong: unknown[] = [
    null,
    [],
    "text",
    { memories: memories.with(1400, { key: "", value: "v" }) },
    { memories: memories.with(1400, { key: "k3", value: "v" }) },
    { memories: memories.with(7, { key: "k7", value: "a\u0000b" }), sessions: [{}] },
    { memories, metadata: { a: "\u0000" } },
    { memories, sessions: [...memories.map((_, at) => sessionOf(at)), sessionOf(0)] },
    { memories: Array.from({ length: LIMITS.memoriesPerSync + 1 }, () => ({})) },
  ];
  for (const body of wrong) {
    const inParts = await failureOf(() => parseLongSync(body, NO_PAUSE));
    const inOne = await failureOf(async () => parseSyncPayload(body));
    expect(inParts).toBeInstanceOf(AppError);
    expect(inParts).toEqual(inOne);
  }
});

test("an answer with a long list is the JSON that it is in one", async () => {
  const list = Array.from({ length: 1500 }, (_, at) => ({ key: `k${at}`, value: 'a "b"\n' }));
  const bodies = [
    { project_id: "proj_a", memories: list, left: undefined, none: null, changes: { created: 1 } },
    { first: undefined, memories: [...list, undefined], short: [1, 2] },
    {
      nested: [
        { id: "a", memories: list },
        { id: "b", memories: [] },
      ],
      memories: [],
    },
    { short: [], text: "é" },
  ];
  for (const body of bodies) {
    let pauses = 0;
    const context = { headers: {}, pause: async () => void pauses++ } as never;
    expect(await (await answerLong(context, body)).text()).toBe(JSON.stringify(body));
    expect(pauses > 0).toBe("memories" in body);
  }
});
