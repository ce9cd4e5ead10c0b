import { parseArgs } from "node:util";
import { seededRandom } from "../../support/random.ts";
import { anySeed, type Case, print, runCase, wholeNumber } from "../cases.ts";
import { ANY_DAMAGE, DAMAGE } from "./damage.ts";
import { FULL } from "./full.ts";
import { REFUSALS } from "./refusals.ts";

export const USAGE = "disk [--rounds N] [--seed N] [--only WORD]";

/** What a short run tries once each. */
export const SHORT: readonly Case[] = [...ANY_DAMAGE, ...FULL, ...REFUSALS];

const LONG: readonly Case[] = [...DAMAGE, ...FULL, ...REFUSALS];
const ROUNDS = "5";

/** The command `disk`. Resolves to the exit status: 1 when a case failed. */
export async function disk(args: string[]): Promise<number> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args, options: { rounds: text, seed: text, only: text } });
  const random = seededRandom(wholeNumber(values.seed ?? `${anySeed()}`));
  const cases = LONG.filter(({ name }) => name.includes(values.only ?? ""));
  let [runs, failed] = [0, 0];
  for (let round = 0; round < wholeNumber(values.rounds ?? ROUNDS); round++) {
    for (const each of cases) {
      const seed = Math.floor(random() * 2 ** 32);
      runs++;
      try {
        await runCase(each, seed);
      } catch (thrown) {
        failed++;
        print(`${each.name}: ${String(thrown)}`);
      }
    }
  }
  print(`${runs} runs of ${cases.length} cases, ${failed} failed`);
  return failed === 0 && runs > 0 ? 0 : 1;
}
