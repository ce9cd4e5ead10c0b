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

/** Whether a test file has a test of this name, as it stands or with a value filled in. */
function hasTest(text: string, name: string): boolean {
  if (text.includes(name)) return true;
  // What is filled in: `${…}` in a template, %s and %d in the name of a table's tests.
  const filledIn = [...text.matchAll(/`([^`\n]*\$\{[^`\n]*)`|"([^"\n]*%[sd][^"\n]*)"/g)].map(
    ([, template, format = ""]) => template ?? format,
  );
  return filledIn.some((template) => {
    const parts = template.split(/\$\{[^}]*\}|%[sd]/).map((part) => RegExp.escape(part));
    return new RegExp(`^${parts.join(".+")}$`).test(name);
  });
}

test("every planted mistake names a test that there is", async () => {
  const unknown: string[] = [];
  for (const { name, found } of MISTAKES) {
    const text = await Bun.file(join(ROOT, "tests", found.file)).text();
    if (!hasTest(text, found.test)) unknown.push(`${name}: ${found.test}`);
  }
  expect(unknown).toEqual([]);
  // Biome takes a placeholder in quotes for a mistake.
  const sample = "test(`a file $".concat("{what} is read`, () => {});");
  expect(hasTest(sample, "a file of two is read")).toBe(true);
  expect(hasTest(sample, "a file is read")).toBe(false);
  const table = 'test.each([1, 2])("a file of %d is read", () => {});';
  expect(hasTest(table, "a file of 2 is read")).toBe(true);
  expect(hasTest(table, "a file is read")).toBe(false);
});
