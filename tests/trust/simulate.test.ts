import { describe, expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { FIRST_SEEDS, runSeeds, runWorker, type SeedLine } from "./simulate/campaign.ts";
import type { Mutation } from "./simulate/mutations/mutation.ts";
import { MUTATIONS } from "./simulate/mutations.ts";
import { replaceOnce } from "./simulate/replacement.ts";
import { SCENARIOS } from "./simulate/scenarios/scenarios.ts";
import { SEAMS } from "./simulate/seams.ts";

/** A mistake is found by one of so many seeds, should its own no longer do. */
const SEEDS_MAX = 400;
const TIMEOUT_MS = 600_000;
const ROOT = join(import.meta.dir, "..", "..");

test(
  "nothing is lost and all come to rest equal, whatever fails",
  async () => {
    const { seeds, failed } = await runSeeds(1, FIRST_SEEDS, availableParallelism());
    const told = failed.map(({ seed, problems }) => ({ seed, problem: problems[0] }));
    expect(told).toEqual([]);
    expect(seeds).toBe(FIRST_SEEDS);
  },
  TIMEOUT_MS,
);

test(
  "each scenario goes as it is told",
  async () => {
    const told: unknown[] = [];
    const count = SCENARIOS.length;
    for await (const line of runWorker({ first: 1, count, what: "scenarios" })) {
      const [problem] = line.problems;
      if (problem !== undefined) told.push({ name: SCENARIOS[line.seed - 1]?.name, problem });
    }
    expect(told).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "a seed replays exactly",
  async () => {
    const once = await firstProblem({ first: 5, count: 1, show: "trace" });
    const again = await firstProblem({ first: 4, count: 2, show: "trace" });
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

/** Whatever finds a mistake: its scenario, its seed, or another seed. */
async function find({ name: mutation, found }: Mutation): Promise<SeedLine> {
  if (typeof found === "string") {
    const first = SCENARIOS.findIndex(({ name }) => name === found) + 1;
    return await firstProblem({ first, count: 1, mutation, what: "scenarios" });
  }
  const own = await firstProblem({ first: found, count: 1, mutation });
  if (own.problems.length > 0) return own;
  const other = await firstProblem({ first: 1, count: SEEDS_MAX, mutation, show: "first" });
  process.stderr.write(`${mutation}: found by seed ${other.seed} now\n`);
  return other;
}

/** Each mistake has a process of its own, so several are looked for at a time. */
function findAll(): ReadonlyMap<Mutation, Promise<SeedLine>> {
  const free = Array.from({ length: availableParallelism() }, () => Promise.resolve());
  const results = new Map<Mutation, Promise<SeedLine>>();
  for (const [at, mutation] of MUTATIONS.entries()) {
    const turn = at % free.length;
    const result = (free[turn] ?? Promise.resolve()).then(() => find(mutation));
    free[turn] = result.then(
      () => undefined,
      () => undefined,
    );
    results.set(mutation, result);
  }
  return results;
}

describe("planted mistakes", () => {
  let results: ReturnType<typeof findAll> | undefined;
  for (const mutation of MUTATIONS) {
    test(
      `a planted mistake is found: ${mutation.name}`,
      async () => {
        results ??= findAll();
        expect((await results.get(mutation))?.problems.length).toBeGreaterThan(0);
      },
      TIMEOUT_MS,
    );
  }
});

test("every mistake names a seed or a scenario that there is", () => {
  const names = new Set(SCENARIOS.map(({ name }) => name));
  expect(names.size).toBe(SCENARIOS.length);
  const unknown = MUTATIONS.filter(({ found }) => typeof found === "string" && !names.has(found));
  expect(unknown.map(({ name }) => name)).toEqual([]);
});

test("every text that is replaced stands in its file once", async () => {
  const replacements = [...SEAMS, ...MUTATIONS.flatMap((each) => each.replacements)];
  for (const replacement of replacements) {
    const text = await Bun.file(join(ROOT, replacement.file)).text();
    expect(replaceOnce(text, replacement)).not.toBe(text);
  }
});
