import type { Bench } from "../bench/bench.ts";
import {
  expectDone,
  expectStatus,
  expectThat,
  isDone,
  objectOf,
  objectsIn,
} from "../bench/expect.ts";
import { Open, type Rule, step } from "../bench/rule.ts";
import { createdMemories } from "./memories.ts";
import { expectMemories, expectNoMemories, readProject } from "./project-memories.ts";
import { firstProject, MALFORMED } from "./projects.ts";

const SYNC = "POST /v1/projects/:id/sync";
const KEPT = { key: "through variant A", value: "synced without a word being lost" };

const projectMemory = step(async (bench) => {
  const exchange = (await createdMemories(bench)).get("project");
  return exchange === undefined ? {} : objectOf(exchange);
});

const synced = step(async (bench) => {
  return await bench.post(`/v1/projects/${await firstProject(bench)}/sync`, { memories: [KEPT] });
});

/** The sync of variant A, and that both variants look at one store. */
export const variantRules: readonly Rule[] = [
  {
    endpoint: "GET /api/projects/:id",
    name: "has what variant A made in the project",
    check: hasCreated,
  },
  { endpoint: SYNC, name: "changes nothing without a body", check: needsNoBody },
  { endpoint: SYNC, name: "takes variant B's payload", check: takesPayload },
  {
    endpoint: SYNC,
    name: "400 for a body that is not JSON",
    check: async (bench) => {
      const path = `/v1/projects/${await firstProject(bench)}/sync`;
      expectStatus(await bench.post(path, MALFORMED), 400);
    },
  },
  {
    endpoint: "GET /v1/memories",
    name: "lists what a sync brought in",
    check: listsSynced,
  },
  {
    endpoint: "DELETE /v1/memories/:id",
    name: "deletes from what variant B shows, too",
    check: deletesFromBoth,
  },
];

async function hasCreated(bench: Bench): Promise<void> {
  const { content } = await projectMemory(bench);
  const exchange = await readProject(bench);
  const found = objectsIn(exchange, "memories").filter((each) => {
    return each.value === content || each.content === content;
  });
  const expected = `once the memory made by POST /v1/memories: ${JSON.stringify(content)}`;
  expectThat(exchange, found.length === 1, { expected, got: `it is there ${found.length} times` });
}

async function needsNoBody(bench: Bench): Promise<void> {
  const before = objectsIn(await readProject(bench), "memories");
  const id = await firstProject(bench);
  expectDone(await bench.post(`/v1/projects/${id}/sync`));
  const after = await readProject(bench);
  const same = JSON.stringify(objectsIn(after, "memories")) === JSON.stringify(before);
  expectThat(after, same, { expected: "the same memories as before a sync without a body" });
}

async function takesPayload(bench: Bench): Promise<void> {
  const exchange = await synced(bench);
  if (exchange.status === 400) throw new Open("variant A's request is not shown");
  expectDone(exchange);
  expectMemories(await readProject(bench), [KEPT]);
}

async function listsSynced(bench: Bench): Promise<void> {
  if (!isDone(await synced(bench))) throw new Open("variant A's request is not shown");
  const exchange = await bench.get("/v1/memories");
  const found = objectsIn(exchange, "memories").filter(({ content }) => content === KEPT.value);
  if (found.length === 0) throw new Open("how the current project is determined is not shown");
  expectThat(exchange, found.length === 1, {
    expected: "it once",
    got: `it is there ${found.length} times`,
  });
}

async function deletesFromBoth(bench: Bench): Promise<void> {
  const { id, content } = await projectMemory(bench);
  expectDone(await bench.delete(`/v1/memories/${String(id)}`));
  const exchange = await readProject(bench);
  const left = objectsIn(exchange, "memories").some((each) => {
    return each.value === content || each.content === content;
  });
  expectThat(exchange, !left, { expected: `a project without the deleted ${String(id)}` });
  expectNoMemories(exchange, [String(id)]);
}
