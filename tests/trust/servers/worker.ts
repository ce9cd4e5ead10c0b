import { replaceInSources } from "../simulate/loader.ts";
import { replacementsOf } from "./mutations.ts";
import { SEAMS } from "./seams.ts";

// Runs seeds in a process of its own, for sources are replaced for good. Arguments: the mutation or
// "none", the first seed, and how many. Prints a line of JSON for each; the first problem ends it.

const [mutation = "none", first = "1", count = "1"] = process.argv.slice(2);
replaceInSources([...SEAMS, ...(mutation === "none" ? [] : replacementsOf(mutation))]);
const { runSeed } = await import("./run-seed.ts");

for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
  const result = await runSeed(seed);
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (result.problems.length > 0) break;
}
process.exit(0);
