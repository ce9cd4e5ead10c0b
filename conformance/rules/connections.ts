import type { Bench } from "../bench/bench.ts";
import type { Exchange } from "../bench/exchange.ts";
import { expectDone, expectStatus, expectThat, objectOf, objectsIn } from "../bench/expect.ts";
import { expectNotPassedOn, isOffline } from "../bench/gateway.ts";
import { leftOpen, Open, type Rule, step } from "../bench/rule.ts";
import { readProject } from "./project-memories.ts";
import { firstProject, MALFORMED, secondProject } from "./projects.ts";

const PATH = "/api/projects/connect";
const ENDPOINT = `POST ${PATH}`;
const BODY_OPEN = "the request's body is not shown; project_id, target_project_id is refused";

const readBefore = step((bench) => readProject(bench));

const connected = step(async (bench) => {
  await readBefore(bench);
  return await connect(bench, await firstProject(bench), await secondProject(bench));
});

/** Specification, section 4: connections and statistics of variant B. */
export const connectionRules: readonly Rule[] = [
  {
    endpoint: ENDPOINT,
    name: "connects two projects",
    check: async (bench) => expectConnected(await connected(bench)),
  },
  {
    endpoint: ENDPOINT,
    name: "may be repeated",
    check: async (bench) => {
      await connected(bench);
      expectConnected(await connect(bench, await firstProject(bench), await secondProject(bench)));
    },
  },
  { endpoint: ENDPOINT, name: "leaves the project's own memories", check: leavesMemories },
  {
    endpoint: ENDPOINT,
    name: "refuses a project that is unknown",
    check: async (bench) => {
      const unknown = `proj_none_${bench.tag}`;
      const exchange = await connect(bench, await firstProject(bench), unknown);
      if (isOffline(exchange)) expectNotPassedOn(exchange);
      expectStatus(exchange, 404, 400);
    },
  },
  {
    endpoint: ENDPOINT,
    name: "400 for a body that is not JSON",
    check: async (bench) => expectStatus(await bench.post(PATH, MALFORMED), 400),
  },
  {
    endpoint: "GET /api/projects/stats",
    name: "is not taken for a project's id",
    check: async (bench) => {
      const exchange = await bench.get("/api/projects/stats");
      const { id } = objectOf(exchange);
      expectThat(exchange, id !== "stats", { expected: "statistics, and no project called stats" });
    },
  },
  {
    endpoint: "GET /api/projects/stats",
    name: "what it counts",
    check: leftOpen("the fields of the statistics are not shown"),
  },
];

async function connect(bench: Bench, one: string, other: string): Promise<Exchange> {
  return await bench.post(PATH, { project_id: one, target_project_id: other });
}

function expectConnected(exchange: Exchange): void {
  if (exchange.status === 400) throw new Open(BODY_OPEN);
  expectNotPassedOn(exchange);
  expectDone(exchange);
}

/** It may show those of the other project beside them. */
async function leavesMemories(bench: Bench): Promise<void> {
  const before = objectsIn(await readBefore(bench), "memories");
  await connected(bench);
  const after = await readProject(bench);
  for (const { key, value } of before) {
    const kept = objectsIn(after, "memories").some((each) => {
      return each.key === key && each.value === value;
    });
    expectThat(after, kept, {
      expected: `the memory ${JSON.stringify(key)} as before`,
      got: "it is not there",
    });
  }
}
