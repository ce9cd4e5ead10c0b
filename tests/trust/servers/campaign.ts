import { join } from "node:path";
import { Queues } from "../../../shared/turns.ts";
import { postgresCluster } from "../../support/postgres-cluster.ts";
import { SHORT_LIVED } from "../../support/short-lived.ts";
import type { RunResult } from "./run-seed.ts";

/** Which seeds to run, and with which mistake in the program. */
interface Asked {
  readonly first: number;
  readonly count: number;
  readonly mutation?: string;
}

/** This many are run by every run of the tests; those behind them in `tests/long`. */
export const FIRST_SERVER_SEEDS = 2;

/** Of PostgreSQL's connections each run takes up to 36. */
const AT_ONCE_MAX = 4;

const queues = new Queues<number>();
let asked = 0;

/**
 * Runs seeds in a process of its own, on this process's PostgreSQL. The first seed with a problem
 * is the last one.
 */
export function runServers(seeds: Asked): Promise<RunResult[]> {
  asked += 1;
  return queues.run(asked % AT_ONCE_MAX, () => run(seeds));
}

async function run({ first, count, mutation = "none" }: Asked): Promise<RunResult[]> {
  const cluster = await postgresCluster();
  const worker = join(import.meta.dir, "worker.ts");
  const child = Bun.spawn([process.execPath, worker, mutation, String(first), String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...SHORT_LIVED, MEMSYNC_TEST_DATABASE: await cluster.createDatabase() },
  });
  const printed = await new Response(child.stdout).text();
  await child.exited;
  const results: RunResult[] = printed
    .split("\n")
    .flatMap((line) => (line ? [JSON.parse(line)] : []));
  const isWhole = results.length === count || (results.at(-1)?.problems.length ?? 0) > 0;
  if (!isWhole) throw new Error(`seed ${first + results.length} has ended its process`);
  return results;
}
