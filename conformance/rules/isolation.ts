import type { Bench } from "../bench/bench.ts";
import type { Exchange } from "../bench/exchange.ts";
import { expectStatus, expectThat, objectsIn, stringIn } from "../bench/expect.ts";
import { type Rule, step } from "../bench/rule.ts";
import { createdMemories } from "./memories.ts";
import { expectNoMemories, readProject } from "./project-memories.ts";
import { firstProject } from "./projects.ts";

const KEY = "of a stranger";

const globalMemory = step(async (bench) => {
  const exchange = (await createdMemories(bench)).get("global");
  return exchange === undefined ? "" : stringIn(exchange, "id");
});

/** What one account stores can't be seen or changed by another. */
export const isolationRules: readonly Rule[] = [
  ...["/v1/memories", "/v1/projects", "/api/projects"].map((path) =>
    other(`GET ${path}`, "shows nothing of another account", async (bench) => {
      await createdMemories(bench);
      const exchange = await bench.get(path, "another");
      expectStatus(exchange, 200);
      const clean = !exchange.text.includes(bench.tag);
      expectThat(exchange, clean, { expected: "nothing that the first account has made" });
    }),
  ),
  ...["/v1/projects", "/api/projects"].map((path) =>
    other(`GET ${path}/:id`, "hides a project of another account", async (bench) => {
      expectHidden(await bench.get(`${path}/${await firstProject(bench)}`, "another"));
    }),
  ),
  other("POST /api/projects/:id/sync", "hides a project of another account", async (bench) => {
    const path = `/api/projects/${await firstProject(bench)}/sync`;
    const body = { memories: [{ key: KEY, value: "x" }] };
    expectHidden(await bench.post(path, body, "another"));
    expectNoMemories(await readProject(bench), [KEY]);
  }),
  other("DELETE /v1/memories/:id", "hides a memory of another account", async (bench) => {
    const id = await globalMemory(bench);
    expectHidden(await bench.delete(`/v1/memories/${id}`, "another"));
    const list = await bench.get("/v1/memories");
    const kept = objectsIn(list, "memories").some((memory) => memory.id === id);
    expectThat(list, kept, {
      expected: `the memory ${id}, which is not the other account's to delete`,
    });
  }),
];

function other(endpoint: string, name: string, check: (bench: Bench) => Promise<void>): Rule {
  return { endpoint, name, needs: "otherToken", check };
}

function expectHidden(exchange: Exchange): void {
  expectStatus(exchange, 404, 403);
}
