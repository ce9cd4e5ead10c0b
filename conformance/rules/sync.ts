import type { Bench } from "../bench/bench.ts";
import { Raw } from "../bench/client.ts";
import type { Exchange } from "../bench/exchange.ts";
import {
  expectDone,
  expectSame,
  expectStatus,
  isDone,
  isObject,
  objectOf,
} from "../bench/expect.ts";
import { leftOpen, Open, type Rule, step } from "../bench/rule.ts";
import {
  expectMemories,
  expectNoMemories,
  type KeyValue,
  readProject,
} from "./project-memories.ts";
import { firstProject, MALFORMED } from "./projects.ts";

const ENDPOINT = "POST /api/projects/:id/sync";

/** Values and keys that are easily changed on the way. */
const EXACT: readonly KeyValue[] = [
  { key: "plain", value: "npm run build" },
  { key: "white space", value: "  leading, trailing,\ttabs  \n\n" },
  { key: "lines", value: "one\r\ntwo\rthree\n" },
  { key: "Lines", value: "a key that differs in case" },
  { key: "\u00e9", value: "Gr\u00fc\u00dfe \u65e5\u672c\u8a9e \u05e9\u05dc\u05d5\u05dd \u{1d4b3}" },
  { key: "e\u0301", value: "\u00e9 and e\u0301 are two \u{1f469}\u200d\u{1f469}\u200d\u{1f467}" },
  { key: "controls", value: "\u0001\u001b[31m\u007f\u0085\u2028\u2029\ufeff" },
  { key: "__proto__", value: '{"a": [1, "\\\\", null]}' },
  { key: "a/b?c=%20&d#e", value: "<b>&amp;</b> %20 ';--" },
];
const TEXT = "# Synced\n\nfirst\r\nsecond \u{1f680}\n";
const METADATA = { language: "TypeScript", framework: "Elysia" };
const CHANGED: readonly KeyValue[] = [
  { key: "plain", value: "npm run build:all" },
  { key: "new", value: "came later" },
];
const UNCHANGED = EXACT.filter(({ key }) => key !== "plain");
const AT_ONCE: readonly KeyValue[] = ["1", "2", "3", "4"].map((number) => ({
  key: `at once ${number}`,
  value: number,
}));
const REFUSED_KEY = "must not be stored";

const synced = step((bench) => {
  return sync(bench, { claude_md_content: TEXT, memories: EXACT, metadata: METADATA });
});

const read = step(async (bench) => {
  await synced(bench);
  return await readProject(bench);
});

/** One value changed, one key new, all others left out; twice. */
const readAfterChange = step(async (bench) => {
  await read(bench);
  for (let times = 0; times < 2; times++) expectDone(await sync(bench, { memories: CHANGED }));
  return await readProject(bench);
});

const readAfterNothing = step(async (bench) => {
  await readAfterChange(bench);
  for (const body of [{}, { memories: [] }]) expectDone(await sync(bench, body));
  return await readProject(bench);
});

const readAfterRefusals = step(async (bench) => {
  await readAfterNothing(bench);
  for (const refuse of Object.values(refusals)) await refuse(bench);
  return await readProject(bench);
});

const good = { key: REFUSED_KEY, value: "of a refused sync" };
const refusals = {
  "a body that is not JSON": step((bench) => sync(bench, MALFORMED)),
  "a body that is no object": step((bench) => sync(bench, new Raw('"text"'))),
  "memories that are no array": step((bench) => sync(bench, { memories: good })),
  "a key that is no text": step((bench) => {
    return sync(bench, { memories: [good, { key: 5, value: "x" }] });
  }),
  "a value that is no text": step((bench) => {
    return sync(bench, { memories: [good, { key: "x", value: { a: 1 } }] });
  }),
  "claude_md_content that is no text": step((bench) => {
    return sync(bench, { memories: [good], claude_md_content: 5 });
  }),
};

/** Specification, sections 2 and 4: the sync of variant B. */
export const syncRules: readonly Rule[] = [
  {
    endpoint: ENDPOINT,
    name: "takes the published payload",
    check: async (bench) => expectDone(await synced(bench)),
  },
  {
    endpoint: ENDPOINT,
    name: "stores every key and value as it was sent",
    check: async (bench) => expectMemories(await read(bench), EXACT),
  },
  { endpoint: ENDPOINT, name: "stores claude_md_content as it was sent", check: storesText },
  { endpoint: ENDPOINT, name: "stores metadata as it was sent", check: storesMetadata },
  {
    endpoint: ENDPOINT,
    name: "writes by key; a repetition doubles nothing",
    check: async (bench) => expectMemories(await readAfterChange(bench), CHANGED),
  },
  {
    endpoint: ENDPOINT,
    name: "what a sync leaves out stays",
    check: async (bench) => expectMemories(await readAfterChange(bench), UNCHANGED),
  },
  {
    endpoint: ENDPOINT,
    name: "an empty payload or array changes nothing",
    check: async (bench) =>
      expectMemories(await readAfterNothing(bench), [...UNCHANGED, ...CHANGED]),
  },
  ...Object.entries(refusals).map(([what, refuse]) => ({
    endpoint: ENDPOINT,
    name: `400 for ${what}`,
    check: async (bench: Bench) => expectStatus(await refuse(bench), 400),
  })),
  {
    endpoint: ENDPOINT,
    name: "a refused sync has changed nothing",
    check: async (bench) => {
      const exchange = await readAfterRefusals(bench);
      expectNoMemories(exchange, [REFUSED_KEY]);
      expectMemories(exchange, [...UNCHANGED, ...CHANGED]);
    },
  },
  {
    endpoint: ENDPOINT,
    name: "syncs of the same moment are all kept",
    check: async (bench) => {
      await readAfterRefusals(bench);
      const answers = await Promise.all(AT_ONCE.map((each) => sync(bench, { memories: [each] })));
      for (const answer of answers) expectDone(answer);
      expectMemories(await readProject(bench), AT_ONCE);
    },
  },
  { endpoint: ENDPOINT, name: "takes an empty value", check: takesEmptyValue },
  { endpoint: ENDPOINT, name: "404 for an unknown project", check: refusesUnknown },
  {
    endpoint: ENDPOINT,
    name: "what it answers, what it requires",
    check: leftOpen("the response and the required-ness of the fields are not shown"),
  },
];

async function sync(bench: Bench, body: unknown): Promise<Exchange> {
  return await bench.post(`/api/projects/${await firstProject(bench)}/sync`, body);
}

async function storesText(bench: Bench): Promise<void> {
  const { claude_md_content: text } = objectOf(await read(bench));
  if (text === undefined) throw new Open("no endpoint is said to show it");
  expectSame(await read(bench), "claude_md_content", { sent: TEXT, got: text });
}

async function storesMetadata(bench: Bench): Promise<void> {
  const { metadata } = objectOf(await read(bench));
  if (!isObject(metadata)) throw new Open("no endpoint is said to show it");
  for (const [key, value] of Object.entries(METADATA)) {
    expectSame(await read(bench), `metadata's ${key}`, { sent: value, got: metadata[key] });
  }
}

async function takesEmptyValue(bench: Bench): Promise<void> {
  const empty = { key: "empty", value: "" };
  const exchange = await sync(bench, { memories: [empty] });
  if (exchange.status === 400) throw new Open("whether a value may be empty is not shown");
  expectDone(exchange);
  expectMemories(await readProject(bench), [empty]);
}

async function refusesUnknown(bench: Bench): Promise<void> {
  const id = `proj_conformance_none_${bench.tag}`;
  const exchange = await bench.post(`/api/projects/${id}/sync`, { memories: [] });
  if (isDone(exchange)) {
    bench.projects.add(id);
    throw new Open("whether a sync makes the project is not shown");
  }
  expectStatus(exchange, 404);
}
