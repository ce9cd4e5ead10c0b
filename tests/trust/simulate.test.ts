import { describe, expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { runSeeds, runWorker, type SeedLine } from "./simulate/campaign.ts";
import { MUTATIONS } from "./simulate/mutations.ts";
import { replaceOnce } from "./simulate/replacement.ts";
import { SEAMS } from "./simulate/seams.ts";

// In its full length by `bun run trust simulate --seeds 100000`.
const SEEDS = process.env.CI ? 1000 : 100;
/** A mistake is found by one of so many seeds, should its own no longer do. */
const SEEDS_MAX = 400;
const TIMEOUT_MS = 600_000;
const ROOT = join(import.meta.dir, "..", "..");

test(
  "nothing is lost and all come to rest equal, whatever fails",
  async () => {
    const { seeds, failed } = await runSeeds(1, SEEDS, availableParallelism());
    const told = failed.map(({ seed, problems }) => ({ seed, problem: problems[0] }));
    expect(told).toEqual([]);
    expect(seeds).toBe(SEEDS);
  },
  TIMEOUT_MS,
);

test(
  "a seed replays exactly",
  async () => {
    const once = await firstProblem({ first: 5, count: 1, show: "trace" });
    const again = await firstProblem({ first: 5, count: 1, show: "trace" });
    expect(once.trace?.length).toBeGreaterThan(20);
    expect(again.trace).toEqual(once.trace);
    expect(again.events).toBe(once.events);
  },
  TIMEOUT_MS,
);

/** The first line with a problem, or the last line. */
async function firstProblem(options: Parameters<typeof runWorker>[0]): Promise<SeedLine> {
  let last: SeedLine | undefined;
  for await (const line of runWorker(options)) {
    last = line;
    if (line.problems.length > 0) break;
  }
  if (!last) throw new Error("no seed was run");
  return last;
}

describe("a mistake is found:", () => {
  for (const { name, seed } of MUTATIONS) {
    test(
      name,
      async () => {
        const mutation = name;
        const own = await firstProblem({ first: seed, count: 1, mutation });
        const found =
          own.problems.length > 0
            ? own
            : await firstProblem({ first: 1, count: SEEDS_MAX, mutation, show: "first" });
        expect(found.problems.length).toBeGreaterThan(0);
        if (found !== own) process.stderr.write(`${name}: found by seed ${found.seed} now\n`);
      },
      TIMEOUT_MS,
    );
  }
});

test("every text that is replaced stands in its file once", async () => {
  const replacements = [...SEAMS, ...MUTATIONS.flatMap((each) => each.replacements)];
  for (const replacement of replacements) {
    const text = await Bun.file(join(ROOT, replacement.file)).text();
    expect(replaceOnce(text, replacement)).not.toBe(text);
  }
});
