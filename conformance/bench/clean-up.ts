import type { Bench } from "./bench.ts";
import { isDone, isObject } from "./expect.ts";

/**
 * Deletes the memories of a run and empties its projects' texts, because the interface can't delete
 * a project. Resolves to the ids of what is left.
 */
export async function cleanUp(bench: Bench): Promise<string[]> {
  for (const id of bench.projects) await noteMemories(bench, `/api/projects/${id}`);
  await noteMemories(bench, "/v1/memories");
  const left: string[] = [];
  for (const id of bench.made) {
    const exchange = await bench.delete(`/v1/memories/${encodeURIComponent(id)}`);
    if (!isDone(exchange) && exchange.status !== 404) left.push(id);
  }
  for (const id of bench.projects) {
    await bench.post(`/api/projects/${id}/sync`, { claude_md_content: "" });
  }
  return [...bench.projects, ...left];
}

/** All memories of a run's project belong to the run; in a list, those with its tag do. */
async function noteMemories(bench: Bench, path: string): Promise<void> {
  const { json } = await bench.get(path);
  const memories = isObject(json) && Array.isArray(json.memories) ? json.memories : [];
  for (const { id, content } of memories.filter(isObject)) {
    const own = path !== "/v1/memories" || String(content).includes(bench.tag);
    if (own && typeof id === "string") bench.made.add(id);
  }
}
