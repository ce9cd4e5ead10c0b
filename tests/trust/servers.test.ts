import { expect, test } from "bun:test";
import { join } from "node:path";
import { FIRST_SERVER_SEEDS, runServers } from "./servers/campaign.ts";
import { MUTATIONS } from "./servers/mutations.ts";
import { SEAMS } from "./servers/seams.ts";
import { replaceOnce } from "./simulate/replacement.ts";

const ROOT = join(import.meta.dir, "..", "..");
const TIMEOUT_MS = 600_000;

test(
  "several servers on one PostgreSQL lose nothing, and come to rest equal, whatever fails",
  async () => {
    const results = await runServers({ first: 1, count: FIRST_SERVER_SEEDS });
    const failed = results.filter(({ problems }) => problems.length > 0);
    // Again: npx bun tests/trust/servers/worker.ts none SEED
    expect(failed).toEqual([]);
    expect(results).toHaveLength(FIRST_SERVER_SEEDS);
  },
  TIMEOUT_MS,
);

test(
  "a seed of several servers replays exactly",
  async () => {
    const [once, again] = await Promise.all([1, 2].map(() => runServers({ first: 2, count: 1 })));
    expect(once?.[0]?.trace.length).toBeGreaterThan(10);
    expect(again).toEqual(once ?? []);
  },
  TIMEOUT_MS,
);

test("every text of a server that is replaced stands in its file once", async () => {
  for (const replacement of [...SEAMS, ...MUTATIONS.flatMap((each) => each.replacements)]) {
    const text = await Bun.file(join(ROOT, replacement.file)).text();
    expect(replaceOnce(text, replacement)).not.toBe(text);
  }
});
