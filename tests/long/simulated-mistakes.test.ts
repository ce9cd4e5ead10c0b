import { expect, test } from "bun:test";
import { firstProblem, type SeedLine } from "../trust/simulate/campaign.ts";
import type { Mutation } from "../trust/simulate/mutations/mutation.ts";
import { MUTATIONS } from "../trust/simulate/mutations.ts";
import { SCENARIOS } from "../trust/simulate/scenarios/scenarios.ts";

/** A mistake is found by one of so many seeds, should its own no longer do. */
const SEEDS_MAX = 400;
const TIMEOUT_MS = 1_200_000;

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

// Each mistake has a process of its own, so several are looked for at a time.
test.concurrent.each(MUTATIONS.map((mutation) => [mutation.name, mutation] as const))(
  "the simulation finds a planted mistake: %s",
  async (_, mutation) => {
    expect((await find(mutation)).problems.length).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
