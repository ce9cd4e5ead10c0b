import type { Bench } from "../bench/bench.ts";
import type { Exchange } from "../bench/exchange.ts";
import {
  expectDone,
  expectSame,
  expectStatus,
  expectThat,
  isDone,
  isObject,
  objectOf,
  objectsIn,
  stringIn,
} from "../bench/expect.ts";
import { leftOpen, Open, type Rule, step } from "../bench/rule.ts";
import { firstProject, MALFORMED } from "./projects.ts";

const PATH = "/v1/memories";
const LAYERS = ["user", "global", "project"] as const;
type Layer = (typeof LAYERS)[number];

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]00:?00)$/;

/**
 * Text that is easily changed on the way: line ends, white space, composed and decomposed letters.
 */
const ODD =
  ' \t\u00e9 e\u0301 \u05e9\u05dc\u05d5\u05dd \u{1f468}\u200d\u{1f469}\r\n\r\n</b>&amp; "\\u00e9 ';

const created = {
  user: step((bench) => create(bench, "user")),
  global: step((bench) => create(bench, "global")),
  project: step((bench) => create(bench, "project")),
};

/** The answer to the creation of a memory of each layer. */
export const createdMemories = step(async (bench) => {
  const exchanges = new Map<Layer, Exchange>();
  for (const layer of LAYERS) exchanges.set(layer, await created[layer](bench));
  return exchanges;
});

/** The list with everything that was created. */
export const listed = step(async (bench) => {
  await createdMemories(bench);
  return await bench.get(PATH);
});

const deleted = step(async (bench) => {
  await listed(bench);
  return await bench.delete(`${PATH}/${stringIn(await created.user(bench), "id")}`);
});

const listedAfter = step(async (bench) => {
  await deleted(bench);
  return await bench.get(PATH);
});

/** Specification, sections 2 and 4: memories of variant A. */
export const memoryRules: readonly Rule[] = [
  ...LAYERS.map((layer) => ({
    endpoint: `POST ${PATH}`,
    name: `answers the ${layer} memory that it made`,
    check: (bench: Bench) => answersMemory(bench, layer),
  })),
  refuses("a body that is not JSON", MALFORMED),
  refuses("a layer that is none", { content: "text", layer: "team" }),
  refuses("content that is no text", { content: 5, layer: "user" }),
  {
    endpoint: `POST ${PATH}`,
    name: "refuses a project that is unknown",
    check: async (bench) => {
      const project_id = `proj_none_${bench.tag}`;
      const create = { content: bench.name("lost"), layer: "project", project_id };
      expectStatus(await bench.post(PATH, create), 404, 400);
    },
  },
  {
    endpoint: `POST ${PATH}`,
    name: "which fields it requires",
    check: leftOpen("required-ness of the creation fields is not shown"),
  },
  { endpoint: `GET ${PATH}`, name: "answers memories and total", check: answersList },
  ...(["user", "global"] as const).map((layer) => ({
    endpoint: `GET ${PATH}`,
    name: `lists the new ${layer} memory, unchanged`,
    check: async (bench: Bench) => expectListed(await listed(bench), await created[layer](bench)),
  })),
  { endpoint: `GET ${PATH}`, name: "lists the current project's memories", check: listsProject },
  {
    endpoint: `GET ${PATH}`,
    name: "filtering, paging and sorting",
    check: leftOpen("query parameters are not shown"),
  },
  {
    endpoint: `DELETE ${PATH}/:id`,
    name: "deletes the memory",
    check: async (bench) => {
      const id = stringIn(await created.user(bench), "id");
      expectDone(await deleted(bench));
      const after = await listedAfter(bench);
      const left = objectsIn(after, "memories").some((memory) => memory.id === id);
      expectThat(after, !left, {
        expected: `a list without ${id}, which was deleted`,
        got: "it is still there",
      });
    },
  },
  {
    endpoint: `DELETE ${PATH}/:id`,
    name: "deletes no other memory",
    check: async (bench) => expectListed(await listedAfter(bench), await created.global(bench)),
  },
  {
    endpoint: `DELETE ${PATH}/:id`,
    name: "404 the second time",
    check: async (bench) => {
      const { path } = await deleted(bench);
      expectStatus(await bench.delete(path), 404);
    },
  },
  {
    endpoint: `DELETE ${PATH}/:id`,
    name: "404 for an unknown memory",
    check: async (bench) => expectStatus(await bench.delete(`${PATH}/mem_none${bench.tag}`), 404),
  },
];

function refuses(what: string, body: unknown): Rule {
  return {
    endpoint: `POST ${PATH}`,
    name: `400 for ${what}`,
    check: async (bench) => {
      const exchange = await bench.post(PATH, body);
      remember(bench, exchange);
      expectStatus(exchange, 400);
    },
  };
}

async function create(bench: Bench, layer: Layer): Promise<Exchange> {
  const content = `${bench.name(layer)}${ODD}`;
  const project = { project_id: await firstProject(bench) };
  const exchange = await bench.post(PATH, { content, layer, ...(layer === "project" && project) });
  remember(bench, exchange);
  return exchange;
}

/** What a call created is deleted at the end, whether it should have been created or not. */
function remember(bench: Bench, exchange: Exchange): void {
  const { id } = isObject(exchange.json) ? exchange.json : {};
  if (isDone(exchange) && typeof id === "string") bench.made.add(id);
}

async function answersMemory(bench: Bench, layer: Layer): Promise<void> {
  const exchange = await created[layer](bench);
  // `created` has sent it, with a content.
  const sent = JSON.parse(exchange.sent ?? "{}") as { content: string };
  expectThat(exchange, /^mem_./.test(stringIn(exchange, "id")), {
    expected: "an id that begins with mem_",
  });
  expectSame(exchange, "content", { sent: sent.content, got: objectOf(exchange).content });
  expectSame(exchange, "layer", { sent: layer, got: objectOf(exchange).layer });
  expectTime(exchange, stringIn(exchange, "created_at"));
}

function expectTime(exchange: Exchange, time: unknown): void {
  const valid = typeof time === "string" && TIME.test(time) && !Number.isNaN(Date.parse(time));
  expectThat(exchange, valid, {
    expected: "created_at, an ISO 8601 timestamp in UTC",
    got: JSON.stringify(time),
  });
}

async function answersList(bench: Bench): Promise<void> {
  const exchange = await listed(bench);
  const memories = objectsIn(exchange, "memories");
  const { total } = objectOf(exchange);
  const { length } = memories;
  expectThat(exchange, total === length, {
    expected: `total ${length}, as many as there are`,
    got: String(total),
  });
  for (const { id, content, layer, created_at } of memories) {
    const got = JSON.stringify({ id, content, layer, created_at });
    const fits = typeof id === "string" && id.startsWith("mem_") && typeof content === "string";
    expectThat(exchange, fits, { expected: "in every memory an id with mem_ and a content", got });
    const known = LAYERS.some((each) => each === layer);
    expectThat(exchange, known, {
      expected: "in every memory a layer: project, user or global",
      got,
    });
    expectTime(exchange, created_at);
  }
  const ids = new Set(memories.map(({ id }) => id));
  expectThat(exchange, ids.size === length, {
    expected: "every memory once",
    got: `${length - ids.size} doubled`,
  });
}

/** The list has a created memory once, exactly as the creation returned it. */
function expectListed(list: Exchange, creation: Exchange): void {
  const made = objectOf(creation);
  const found = objectsIn(list, "memories").filter(({ content }) => content === made.content);
  const what = `the memory ${String(made.id)} once, as it was created`;
  expectThat(list, found.length === 1, {
    expected: what,
    got: `it is there ${found.length} times`,
  });
  for (const field of ["id", "layer", "created_at"]) {
    expectSame(list, field, { sent: made[field], got: found[0]?.[field] });
  }
}

async function listsProject(bench: Bench): Promise<void> {
  const list = await listed(bench);
  const { content } = objectOf(await created.project(bench));
  const found = objectsIn(list, "memories").some((memory) => memory.content === content);
  if (!found) throw new Open("how the current project is determined is not shown");
  expectListed(list, await created.project(bench));
}
