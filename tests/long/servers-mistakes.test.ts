import { expect, test } from "bun:test";
import { runServers } from "../trust/servers/campaign.ts";
import { MUTATIONS, type ServersMutation } from "../trust/servers/mutations.ts";
import type { RunResult } from "../trust/servers/run-seed.ts";

/** A mistake is found by one of so many seeds, should its own no longer do. */
const SEEDS_MAX = 60;
const TIMEOUT_MS = 600_000;

async function find({ name, seed }: ServersMutation): Promise<RunResult | undefined> {
  const [own] = await runServers({ first: seed, count: 1, mutation: name });
  if (own && own.problems.length > 0) return own;
  const other = (await runServers({ first: 1, count: SEEDS_MAX, mutation: name })).at(-1);
  process.stderr.write(`${name}: found by seed ${other?.seed} now\n`);
  return other;
}

// Each mistake has a process of its own, so several are looked for at a time.
test.concurrent.each(MUTATIONS.map((mutation) => [mutation.name, mutation] as const))(
  "the simulation of several servers finds a planted mistake: %s",
  async (_, mutation) => {
    expect((await find(mutation))?.problems.length).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
