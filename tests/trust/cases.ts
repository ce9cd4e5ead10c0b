import { DISK } from "../support/disk.ts";
import { Lab } from "../support/lab.ts";
import { pick, seededRandom } from "../support/random.ts";

/** Something that must hold, tried once with real processes; throws when it does not. */
export interface Case {
  readonly name: string;
  readonly run: (lab: Lab, random: () => number) => Promise<void>;
}

/** Runs a case in a lab of its own, on a disk; when it fails, what its processes said is shown. */
export async function runCase({ run }: Case, seed: number): Promise<void> {
  const lab = new Lab(DISK);
  try {
    await run(lab, seededRandom(seed));
  } catch (thrown) {
    process.stderr.write(`${lab.logs()}\n`);
    throw new Error(`seed ${seed}: ${String(thrown)}`, { cause: thrown });
  } finally {
    await lab.end();
  }
}

/** One of the cases, by a seed. */
export function anyOf(cases: readonly Case[], name: string): Case {
  return { name, run: (lab, random) => pick(random, cases).run(lab, random) };
}

/** A seed that was not asked for. */
export function anySeed(): number {
  return Math.floor(Math.random() * 2 ** 32);
}

/** A whole number, as an argument of a run. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`not a whole number: ${text}`);
  return Number(text);
}

/** Prints a line of a run. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
