import { expect, test } from "bun:test";
import { FIRST_SERVER_SEEDS, runServers } from "../trust/servers/campaign.ts";

const LAST_SEED = 6;
const TIMEOUT_MS = 600_000;

test(
  `several servers on one PostgreSQL lose nothing, and come to rest equal, up to seed ${LAST_SEED}`,
  async () => {
    const count = LAST_SEED - FIRST_SERVER_SEEDS;
    const results = await runServers({ first: FIRST_SERVER_SEEDS + 1, count });
    const failed = results.filter(({ problems }) => problems.length > 0);
    // Again: npx bun tests/trust/servers/worker.ts none SEED
    expect(failed).toEqual([]);
    expect(results).toHaveLength(count);
  },
  TIMEOUT_MS,
);
