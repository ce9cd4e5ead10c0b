import { expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { FIRST_SEEDS, runSeeds } from "../trust/simulate/campaign.ts";

// In its full length by `npm run trust -- simulate --seeds 100000`.
const LAST_SEED = 1000;
const TIMEOUT_MS = 1_200_000;

/**
 * Found, and not mended yet. 509: the service has an earlier update of a machine, whose answer was
 * lost, has compacted its log, and answers with its whole document. That counts as an echo of all
 * that the machine has sent, so nothing shows that both sides deleted a line which one of them
 * moved: it stays, and nobody is told.
 */
const OPEN: readonly number[] = [509];

test(
  `nothing is lost and all come to rest equal, whatever fails, up to seed ${LAST_SEED}`,
  async () => {
    const count = LAST_SEED - FIRST_SEEDS;
    const { seeds, failed } = await runSeeds(FIRST_SEEDS + 1, count, availableParallelism());
    const found = failed.filter(({ seed }) => !OPEN.includes(seed));
    expect(found.map(({ seed, problems }) => ({ seed, problem: problems[0] }))).toEqual([]);
    // Whoever has mended it takes it out of the list.
    expect(failed.map(({ seed }) => seed).sort((one, other) => one - other)).toEqual([...OPEN]);
    expect(seeds).toBe(count);
  },
  TIMEOUT_MS,
);
