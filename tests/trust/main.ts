import { messageOf } from "../../shared/errors.ts";
import { USAGE as ASSISTANTS, assistants } from "./assistants/assistants.ts";
import { USAGE as BUDGET, budget } from "./budget/budget.ts";
import { USAGE as DAY, day } from "./day/day.ts";
import { USAGE as DISK, disk } from "./disk/disk.ts";
import { USAGE as HOSTILE, hostile } from "./hostile/hostile.ts";
import { USAGE as KILL, kill } from "./kill/kill.ts";
import { merge } from "./merge.ts";
import { USAGE as PEOPLE, people } from "./people/people.ts";
import { plain } from "./plain.ts";
import { USAGE as SIMULATE, simulate } from "./simulate/simulate.ts";

/** The long runs behind what users trust; each tells on which figures it rests. */
const RUNS: Readonly<Record<string, (args: string[]) => Promise<number> | number>> = {
  simulate,
  kill,
  disk,
  hostile,
  budget,
  day,
  people,
  plain,
  merge,
  assistants,
};

const USAGE = [
  SIMULATE,
  KILL,
  DISK,
  HOSTILE,
  BUDGET,
  DAY,
  PEOPLE,
  "plain [FILE…]",
  "merge",
  ASSISTANTS,
]
  .map((each) => `  npm run trust -- ${each}`)
  .join("\n");

const [name = "", ...args] = process.argv.slice(2);
const run = RUNS[name];
if (!run) {
  process.stderr.write(`usage:\n${USAGE}\n`);
  process.exit(2);
}
try {
  process.exitCode = await run(args);
} catch (thrown) {
  process.stderr.write(`${messageOf(thrown)}\n`);
  process.exitCode = 2;
}
