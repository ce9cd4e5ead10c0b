import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { MISTAKES } from "./planted/mistakes.ts";
import { FIRST_SEEDS, firstProblem, runSeeds, runWorker } from "./simulate/campaign.ts";
import { MUTATIONS } from "./simulate/mutations.ts";
import { replaceOnce } from "./simulate/replacement.ts";
import { SCENARIOS } from "./simulate/scenarios/scenarios.ts";
import { SEAMS } from "./simulate/seams.ts";

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

test("every mistake names a seed or a scenario that there is", () => {
  const names = new Set(SCENARIOS.map(({ name }) => name));
  expect(names.size).toBe(SCENARIOS.length);
  const unknown = MUTATIONS.filter(({ found }) => typeof found === "string" && !names.has(found));
  expect(unknown.map(({ name }) => name)).toEqual([]);
});

test("every text that is replaced stands in its file once", async () => {
  const mistakes = [...MUTATIONS, ...MISTAKES].flatMap((each) => each.replacements);
  const replacements = [...SEAMS, ...mistakes];
  for (const replacement of replacements) {
    const text = await Bun.file(join(ROOT, replacement.file)).text();
    expect(replaceOnce(text, replacement)).not.toBe(text);
  }
});
