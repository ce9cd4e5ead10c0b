import type { Bench } from "../bench/bench.ts";
import { Broken } from "../bench/broken.ts";
import { Raw } from "../bench/client.ts";
import type { Exchange } from "../bench/exchange.ts";
import {
  countOfId,
  expectDone,
  expectSame,
  expectStatus,
  expectThat,
  objectOf,
} from "../bench/expect.ts";
import { Open, type Rule, step } from "../bench/rule.ts";

/** A body that is not JSON. */
export const MALFORMED = new Raw('{"memories": [');

const TEXT = "# Conformance\r\n\r\nA line with \u00e9, e\u0301 and \u{1f469}\u200d\u{1f4bb}.\n\n";

const madeFirst = step((bench) => make(bench, "one"));
const madeSecond = step((bench) => make(bench, "two"));

/** Id of another project of the account, created before the first. */
export const secondProject = step(async (bench) => idOf(bench, await madeSecond(bench)));
/** Id of the project that most rules use. It was created last, so it may be the current one. */
export const firstProject = step(async (bench) => {
  await secondProject(bench);
  return idOf(bench, await madeFirst(bench));
});

const updated = step(async (bench) => {
  const id = await firstProject(bench);
  return await bench.post("/api/projects", { id, name: bench.name("renamed") });
});

/** The first project as variant B shows it, before anything was synced. */
const read = step(async (bench) => {
  await updated(bench);
  return await bench.get(`/api/projects/${await firstProject(bench)}`);
});

/** Specification, section 4: projects of both variants. */
export const projectRules: readonly Rule[] = [
  {
    endpoint: "POST /api/projects",
    name: "creates a project",
    check: async (bench) => {
      await firstProject(bench);
    },
  },
  {
    endpoint: "POST /api/projects",
    name: "updates a project that is there",
    check: async (bench) => expectDone(await updated(bench)),
  },
  {
    endpoint: "POST /api/projects",
    name: "400 for a body that is not JSON",
    check: async (bench) => expectStatus(await bench.post("/api/projects", MALFORMED), 400),
  },
  {
    endpoint: "POST /api/projects",
    name: "400 for a body that is no object",
    check: async (bench) => expectStatus(await bench.post("/api/projects", ["text"]), 400),
  },
  ...["/api/projects", "/v1/projects"].map((path) => ({
    endpoint: `GET ${path}`,
    name: "lists every project once",
    check: (bench: Bench) => listsEachOnce(bench, path),
  })),
  ...["/v1/projects", "/api/projects"].flatMap((path) => [
    {
      endpoint: `GET ${path}/:id`,
      name: "is that project",
      check: (bench: Bench) => isThatProject(bench, path),
    },
    {
      endpoint: `GET ${path}/:id`,
      name: "404 for an unknown project",
      check: async (bench: Bench) =>
        expectStatus(await bench.get(`${path}/proj_none_${bench.tag}`), 404),
    },
  ]),
  {
    endpoint: "GET /api/projects/:id",
    name: "an update leaves what it does not mention",
    check: keepsText,
  },
];

async function make(bench: Bench, which: string): Promise<Exchange> {
  return await bench.post("/api/projects", {
    id: `proj_conformance_${which}_${bench.tag}`,
    name: bench.name(which),
    claude_md_content: TEXT,
    metadata: { language: "TypeScript", framework: "none" },
  });
}

/** The id in the answer, or else the one that was requested. */
function idOf(bench: Bench, exchange: Exchange): string {
  if (exchange.status === 400) {
    throw new Broken(exchange, "a project, to try the rest in (the body is not published)");
  }
  expectDone(exchange);
  const answered = exchange.status === 204 ? undefined : objectOf(exchange).id;
  // The suite itself has sent it, with an id; see `make`.
  const asked = (JSON.parse(exchange.sent ?? "{}") as { id: string }).id;
  const id = typeof answered === "string" ? answered : asked;
  expectThat(exchange, /^proj_./.test(id), { expected: "an id that begins with proj_" });
  bench.projects.add(id);
  return id;
}

async function listsEachOnce(bench: Bench, path: string): Promise<void> {
  const ids = [await firstProject(bench), await secondProject(bench)];
  await updated(bench);
  const exchange = await bench.get(path);
  expectStatus(exchange, 200);
  for (const id of ids) {
    const count = countOfId(exchange.json, id);
    expectThat(exchange, count === 1, {
      expected: `the project ${id} once`,
      got: `it is there ${count} times`,
    });
  }
}

async function isThatProject(bench: Bench, path: string): Promise<void> {
  const id = await firstProject(bench);
  const exchange = path === "/api/projects" ? await read(bench) : await bench.get(`${path}/${id}`);
  objectOf(exchange);
  expectThat(exchange, countOfId(exchange.json, id) > 0, {
    expected: `a record with the id ${id}`,
  });
}

async function keepsText(bench: Bench): Promise<void> {
  const exchange = await read(bench);
  const { claude_md_content: text } = objectOf(exchange);
  if (text === undefined) throw new Open("the record's fields are not published");
  expectSame(exchange, "claude_md_content", { sent: TEXT, got: text });
}
