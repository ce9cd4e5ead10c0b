import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { FIRST_SEEDS, runSeeds } from "../trust/simulate/campaign.ts";

// In its full length by `npm run trust -- simulate --seeds 100000`.
const LAST_SEED = 1000;
const TIMEOUT_MS = 1_200_000;

test(
  `nothing is lost and all come to rest equal, whatever fails, up to seed ${LAST_SEED}`,
  async () => {
    const count = LAST_SEED - FIRST_SEEDS;
    const { seeds, failed } = await runSeeds(FIRST_SEEDS + 1, count, availableParallelism());
    expect(failed.map(({ seed, problems }) => ({ seed, problem: problems[0] }))).toEqual([]);
    expect(seeds).toBe(count);
  },
  TIMEOUT_MS,
);
