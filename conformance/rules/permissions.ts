import type { Bench } from "../bench/bench.ts";
import { expectStatus, expectThat, objectsIn, stringIn } from "../bench/expect.ts";
import { type Rule, step } from "../bench/rule.ts";
import { createdMemories } from "./memories.ts";
import { expectNoMemories, readProject } from "./project-memories.ts";
import { firstProject, secondProject } from "./projects.ts";

const KEY = "not for readers";

const globalMemory = step(async (bench) => {
  const exchange = (await createdMemories(bench)).get("global");
  return exchange === undefined ? "" : stringIn(exchange, "id");
});

/** Specification, section 5: a valid token without permission for the action is 403. */
export const permissionRules: readonly Rule[] = [
  ...["/v1/memories", "/v1/projects", "/api/projects", "/api/projects/stats", "/v1/sessions"].map(
    (path) =>
      reader(`GET ${path}`, "a read-only token may read", async (bench) => {
        expectStatus(await bench.get(path, "reader"), 200);
      }),
  ),
  reader("GET /api/projects/:id", "a read-only token may read", async (bench) => {
    expectStatus(await bench.get(`/api/projects/${await firstProject(bench)}`, "reader"), 200);
  }),
  forbids("POST /v1/memories", async (bench) =>
    bench.post("/v1/memories", { content: bench.name("reader"), layer: "user" }, "reader"),
  ),
  forbids("DELETE /v1/memories/:id", async (bench) =>
    bench.delete(`/v1/memories/${await globalMemory(bench)}`, "reader"),
  ),
  forbids("POST /api/projects", async (bench) =>
    bench.post("/api/projects", { id: `proj_reader_${bench.tag}`, name: "x" }, "reader"),
  ),
  ...["/v1", "/api"].map((base) =>
    forbids(`POST ${base}/projects/:id/sync`, async (bench) => {
      const body = { memories: [{ key: KEY, value: "x" }] };
      return await bench.post(`${base}/projects/${await firstProject(bench)}/sync`, body, "reader");
    }),
  ),
  forbids("POST /api/projects/connect", async (bench) => {
    const project_id = await firstProject(bench);
    const target_project_id = await secondProject(bench);
    const body = { project_id, target_project_id };
    return await bench.post("/api/projects/connect", body, "reader");
  }),
  reader("every endpoint", "what a reader was refused changed nothing", changedNothing),
];

function reader(endpoint: string, name: string, check: (bench: Bench) => Promise<void>): Rule {
  return { endpoint, name, needs: "readOnlyToken", check };
}

function forbids(endpoint: string, call: (bench: Bench) => ReturnType<Bench["send"]>): Rule {
  return reader(endpoint, "403 for a read-only token", async (bench) => {
    expectStatus(await call(bench), 403);
  });
}

async function changedNothing(bench: Bench): Promise<void> {
  const id = await globalMemory(bench);
  const list = await bench.get("/v1/memories");
  const memories = objectsIn(list, "memories");
  const kept = memories.some((memory) => memory.id === id);
  expectThat(list, kept, { expected: `the memory ${id}, whose deletion was refused` });
  const added = memories.some(({ content }) => content === bench.name("reader"));
  expectThat(list, !added, { expected: "no memory whose creation was refused" });
  expectNoMemories(await readProject(bench), [KEY]);
}
