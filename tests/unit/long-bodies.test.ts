import { expect, test } from "bun:test";
import fc from "fast-check";
import { answerLong } from "../../server/http/answer.ts";
import { JsonScan } from "../../server/http/json-scan.ts";
import { parseScanned } from "../../server/http/parse-scanned.ts";
import { AppError } from "../../shared/errors.ts";
import { LIMITS } from "../../shared/limits.ts";
import { NO_PAUSE } from "../../shared/turns.ts";
import { parseLongSync, parseSyncPayload } from "../../shared/wire/sync.ts";
import { failureOf } from "../support/failure.ts";

const RUNS = { numRuns: 400, seed: 14 };

const UNREADABLE = "it is not JSON";

/** Parses in pieces of a few bytes, scanned by as few. */
async function parsePieces(bytes: Uint8Array): Promise<unknown> {
  const scan = new JsonScan(bytes, 5);
  while (!scan.isDone) scan.advance(3);
  try {
    return { json: JSON.stringify(await parseScanned(bytes, scan, NO_PAUSE)) };
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
