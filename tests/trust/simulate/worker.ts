import { placeInMemory } from "../../support/disk.ts";
import { replaceInSources } from "./loader.ts";
import { replacementsOf } from "./mutations.ts";
import type { SeedResult } from "./run-seed.ts";
import { SEAMS } from "./seams.ts";

// Runs seeds in a process of its own, for sources are replaced for good. Arguments: the mutation
// or "none", "trace", "quiet" or "first" (problem ends it), the first seed, how many, and "seeds"
// or "scenarios", of which the numbers are then. Prints a line of JSON for each.

const [mutation = "none", show = "quiet", first = "1", count = "1", what = "seeds"] =
  process.argv.slice(2);
const FOLDER = placeInMemory();

replaceInSources([...SEAMS, ...(mutation === "none" ? [] : replacementsOf(mutation))]);
const { runSeed } = await import("./run-seed.ts");
const { runScenario } = await import("./run-scenario.ts");
const runOne = what === "scenarios" ? runScenario : runSeed;

// A run waits for nothing that takes real time, as the rules do that are read at the first save.
const { findSecrets } = await import("../../../daemon/held/secret-scan.ts");
await findSecrets("");

let unhandled: string[] = [];
process.on("unhandledRejection", (thrown) => {
  unhandled.push(`nobody took a rejection: ${thrown instanceof Error ? thrown.stack : thrown}`);
});
process.on("uncaughtException", (thrown) => {
  unhandled.push(`nobody took an exception: ${thrown.stack}`);
});

/** Out of a promise's reach, so that the run can let all promises go on. */
function runFromLoop(seed: number): Promise<SeedResult> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        const result = runOne(seed, FOLDER);
        setImmediate(() => resolve(result));
      } catch (thrown) {
        reject(thrown);
      }
    });
  });
}

for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
  unhandled = [];
  const startedAt = process.cpuUsage();
  const { trace, problems, ...result } = await runFromLoop(seed);
  const { user, system } = process.cpuUsage(startedAt);
  const line = {
    ...result,
    problems: [...problems, ...unhandled],
    cpuMs: Math.round((user + system) / 1000),
    ...(show === "trace" && { trace }),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  if (show === "first" && line.problems.length > 0) break;
}
process.exit(0);
