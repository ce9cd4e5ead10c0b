import { parseArgs } from "node:util";
import { anySeed, print, runCase, wholeNumber } from "../cases.ts";
import type { Held } from "./watched-daemon.ts";
import { workDay } from "./working-day.ts";

export const USAGE = "day [--steps N] [--seed N]";

const STEPS = "2600";
const SAMPLES = 12;

/** The last third of a day may hold so much more than the first, at rest. */
const HEAP_BYTES_MAX = 1024 * 1024;
const RESIDENT_BYTES_MAX = 8 * 1024 * 1024;
const TIMERS_MAX = 2;
const SOCKETS_MAX = 2;

/** The command `day`. Resolves to the exit status: 1 when something grew. */
export async function day(args: string[]): Promise<number> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args, options: { steps: text, seed: text } });
  const steps = wholeNumber(values.steps ?? STEPS);
  const seed = wholeNumber(values.seed ?? `${anySeed()}`);
  let held: Held[] = [];
  const run = async (...[lab, random]: Parameters<Parameters<typeof runCase>[0]["run"]>) => {
    held = await workDay(lab, random, { steps, samples: SAMPLES });
  };
  await runCase({ name: "day", run }, seed);
  for (const { targets: _, ...each } of held) print(JSON.stringify(each));
  const grown = growthOf(held);
  print(`seed ${seed}, ${steps} steps: grown by ${JSON.stringify(grown)}`);
  const fits =
    grown.heapBytes <= HEAP_BYTES_MAX &&
    grown.residentBytes <= RESIDENT_BYTES_MAX &&
    grown.timers <= TIMERS_MAX &&
    grown.sockets <= SOCKETS_MAX;
  if (!fits) print(`  again: npm run trust -- day --seed ${seed} --steps ${steps}`);
  return fits ? 0 : 1;
}

type Grown = "heapBytes" | "residentBytes" | "timers" | "sockets";

/** By how much the mean of the last third is more than that of the first. */
function growthOf(held: readonly Held[]) {
  const third = Math.floor(held.length / 3);
  const mean = (part: readonly Held[], of: Grown) =>
    part.reduce((sum, each) => sum + each[of], 0) / part.length;
  const grown = (of: Grown) =>
    Math.round(mean(held.slice(-third), of) - mean(held.slice(0, third), of));
  return {
    heapBytes: grown("heapBytes"),
    residentBytes: grown("residentBytes"),
    timers: grown("timers"),
    sockets: grown("sockets"),
  };
}
