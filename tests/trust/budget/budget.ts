import { parseArgs } from "node:util";
import { Dice } from "../simulate/dice.ts";
import { runBusyDay } from "./busy-day.ts";

const HOUR_MS = 60 * 60 * 1000;
const BUSY_MS = 8 * HOUR_MS;
const DAY_MS = 24 * HOUR_MS;
const MS_PER_S = 1000;

export const USAGE = "budget [--seeds N] [--from N]";

/** The command `budget`: busy days with and without live sockets. 1 when something was wrong. */
export async function budget(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { seeds: { type: "string" }, from: { type: "string" } },
  });
  const from = wholeNumber(values.from ?? "1");
  const count = wholeNumber(values.seeds ?? "1");
  let wrong = 0;
  for (let seed = from; seed < from + count; seed++) {
    for (const sockets of [true, false]) wrong += await tell(seed, sockets);
  }
  return wrong === 0 ? 0 : 1;
}

/** Resolves to how many problems it had. */
async function tell(seed: number, sockets: boolean): Promise<number> {
  const beginsAt = new Dice(seed).below(DAY_MS / HOUR_MS) * HOUR_MS;
  const quietMs = DAY_MS - BUSY_MS;
  const result = await runBusyDay({ seed, sockets, beginsAt, busyMs: BUSY_MS, quietMs });
  const seconds = (milliseconds: number) => `${(milliseconds / MS_PER_S).toFixed(1)} s`;
  print(
    `seed ${seed}, ${sockets ? "with" : "without"} sockets, from ${beginsAt / HOUR_MS}:00 UTC: ` +
      `${result.requests} requests, ${result.refused} refused, ` +
      `at most ${result.mostInAMinute} in 60 s, ${result.quietRequests} while idle; shown after ` +
      `${seconds(result.shownMsMedian)} (median), ${seconds(result.shownMsMax)} at most`,
  );
  for (const problem of result.problems) print(`  wrong: ${problem}`);
  return result.problems.length;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`not a whole number: ${text}`);
  return Number(text);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
