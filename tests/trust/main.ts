import { messageOf } from "../../shared/errors.ts";
import { USAGE as SIMULATE, simulate } from "./simulate/simulate.ts";

/** The long runs behind what users trust; each tells on which figures it rests. */
const RUNS: Readonly<Record<string, (args: string[]) => Promise<number>>> = { simulate };

const [name = "", ...args] = process.argv.slice(2);
const run = RUNS[name];
if (!run) {
  process.stderr.write(`usage: bun run trust ${SIMULATE}\n`);
  process.exit(2);
}
try {
  process.exitCode = await run(args);
} catch (thrown) {
  process.stderr.write(`${messageOf(thrown)}\n`);
  process.exitCode = 2;
}
