import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { runSeeds, runWorker, type SeedLine } from "./campaign.ts";
import { MUTATIONS } from "./mutations.ts";

const SEEDS = 1000;
const MS_PER_S = 1000;
/** A long run that is broken off has told how far it came. */
const TOLD_EVERY = 1000;

export const USAGE =
  "simulate [--seeds N] [--from N] [--jobs N], or --seed N [--mutation NAME] for one's story";

/** The command `simulate`. Resolves to the exit status: 1 when a seed failed. */
export async function simulate(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string" },
      seeds: { type: "string" },
      from: { type: "string" },
      jobs: { type: "string" },
      mutation: { type: "string" },
    },
  });
  if (values.seed !== undefined) return await tell(wholeNumber(values.seed), values.mutation);
  const count = wholeNumber(values.seeds ?? String(SEEDS));
  const jobs = wholeNumber(values.jobs ?? String(availableParallelism()));
  return await run(wholeNumber(values.from ?? "1"), count, jobs);
}

async function run(from: number, count: number, jobs: number): Promise<number> {
  const startedAt = performance.now();
  let done = 0;
  const { seeds, failed, cpuMs, doubled } = await runSeeds(
    from,
    count,
    jobs,
    ({ seed, problems }) => {
      if (problems.length > 0) {
        print(`seed ${seed}: ${problems[0]}`);
        print(`  replay it: npm run trust -- simulate --seed ${seed}`);
      }
      if (++done % TOLD_EVERY === 0) print(`${done} of ${count} seeds done`);
    },
  );
  const seconds = (performance.now() - startedAt) / MS_PER_S;
  const each = seeds === 0 ? 0 : Math.round(cpuMs / seeds);
  print(
    `${seeds} seeds, ${failed.length} failed, ${seconds.toFixed(1)} s in ${jobs} processes, ` +
      `${each} ms of one core each; ${doubled} lines stood twice`,
  );
  return failed.length === 0 && seeds === count ? 0 : 1;
}

async function tell(seed: number, mutation: string | undefined): Promise<number> {
  if (mutation !== undefined && !MUTATIONS.some(({ name }) => name === mutation)) {
    throw new Error(`there is no mutation "${mutation}": see tests/trust/simulate/mutations.ts`);
  }
  const options = { first: seed, count: 1, show: "trace" } as const;
  let last: SeedLine | undefined;
  for await (const line of runWorker({ ...options, ...(mutation !== undefined && { mutation }) })) {
    last = line;
  }
  for (const line of last?.trace ?? []) print(line);
  for (const problem of last?.problems ?? []) print(`seed ${seed}: ${problem}`);
  if (last?.problems.length === 0) print(`seed ${seed}: nothing wrong`);
  return last?.problems.length === 0 ? 0 : 1;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`not a whole number: ${text}`);
  return Number(text);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
