import { writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";

const TESTS = 20;

/**
 * Twenty tests, each of which writes a memory and finds it alone. To be called before anything of
 * what they test with is loaded: what `prepare` takes counts, and what it has done before each test
 * and after all, but not what the tests themselves take. `prepare` resolves to what gives the
 * service's address.
 */
export async function timeOutsideTests(prepare) {
  const startedAt = performance.now();
  let insideMs = 0;
  // Vitest runs what is to be done afterwards in the opposite order.
  afterAll(() => {
    const outsideMs = performance.now() - startedAt - insideMs;
    writeFileSync(process.env.BENCH_RESULT, JSON.stringify({ outsideMs, insideMs }));
  });
  const addressOf = await prepare();
  for (let at = 0; at < TESTS; at++) {
    test(`test ${at} finds its own memory alone`, async () => {
      const begunAt = performance.now();
      const path = `${addressOf()}/v1/memories`;
      const headers = { authorization: "Bearer mst_dev_pro", "content-type": "application/json" };
      const body = JSON.stringify({ layer: "user", content: `memory ${at}` });
      const written = await fetch(path, { method: "POST", headers, body });
      expect(written.status).toBe(200);
      const { memories } = await (await fetch(path, { headers })).json();
      expect(memories.map(({ content }) => content)).toEqual([`memory ${at}`]);
      insideMs += performance.now() - begunAt;
    });
  }
}
