import { parseArgs } from "node:util";
import type { Lab } from "../../support/lab.ts";
import { anySeed, print, runCase, wholeNumber } from "../cases.ts";
import { Dice } from "../simulate/dice.ts";
import { live, type PeopleOptions } from "./live.ts";
import { type Report, report } from "./report.ts";
import { Town } from "./town.ts";

export const USAGE = "people [--saves N] [--seed N] [--machines 2|3]";

const SAVES = "2000";
const SAVES_PER_PROJECT = 160;
const FOR_MS_MAX = 14 * 60_000;
const HABITS = { thinks: 0.08, breakMsMax: 5000 };

/** The command `people`. Resolves to the exit status: 1 when a target is missed. */
export async function people(args: string[]): Promise<number> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args, options: { saves: text, seed: text, machines: text } });
  const saves = wholeNumber(values.saves ?? SAVES);
  const seed = wholeNumber(values.seed ?? `${anySeed()}`);
  const machines = wholeNumber(values.machines ?? `${2 + (seed % 2)}`);
  if (machines < 2 || machines > 3) throw new Error("there are 2 or 3 machines");
  const projects = Math.max(4, Math.ceil(saves / SAVES_PER_PROJECT));
  const again = `npm run trust -- people --seed ${seed} --saves ${saves} --machines ${machines}`;
  print(`seed ${seed}: ${machines} machines, ${projects} projects; again: ${again}`);
  const options = { saves, machines, projects, forMsMax: FOR_MS_MAX, ...HABITS };
  const { met } = await liveFor(options, seed);
  if (!met) print(`  again: ${again}`);
  return met ? 0 : 1;
}

/** Lets people live in a lab of their own, and judges what came of it. */
export async function liveFor(options: PeopleOptions, seed: number): Promise<Report> {
  const reports: Report[] = [];
  const run = async (lab: Lab) => {
    const dice = new Dice(seed);
    await using town = await Town.start(lab, dice, options);
    reports.push(await report(await live(town, lab, dice, options)));
  };
  await runCase({ name: "people", run }, seed);
  const [first] = reports;
  if (!first) throw new Error("a run ends with a report");
  return first;
}
