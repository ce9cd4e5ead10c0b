import { parseArgs } from "node:util";
import { anySeed, print, runCase, wholeNumber } from "../cases.ts";
import { type KillReport, killRounds } from "./rounds.ts";

export const USAGE = "kill [--rounds N] [--seed N]";

/** Rounds on one pair of machines; then new ones begin, for their data only grows. */
const ROUNDS_PER_CLUSTER = 20;
const ROUNDS = "500";

/** The command `kill`. Resolves to the exit status: 1 when something was lost or made up. */
export async function kill(args: string[]): Promise<number> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args, options: { rounds: text, seed: text } });
  const rounds = wholeNumber(values.rounds ?? ROUNDS);
  const first = wholeNumber(values.seed ?? `${anySeed()}`);
  const reports: KillReport[] = [];
  let failed = 0;
  for (let done = 0; done < rounds; done += ROUNDS_PER_CLUSTER) {
    const count = Math.min(ROUNDS_PER_CLUSTER, rounds - done);
    const seed = first + done;
    try {
      const run = async (lab: Parameters<typeof killRounds>[0], random: () => number) => {
        reports.push(await killRounds(lab, random, count));
      };
      await runCase({ name: "kill", run }, seed);
    } catch (thrown) {
      failed++;
      print(`${String(thrown)}\n  again: npm run trust -- kill --seed ${seed} --rounds ${count}`);
    }
    print(told(reports, failed));
  }
  return failed === 0 ? 0 : 1;
}

function told(reports: readonly KillReport[], failed: number): string {
  const total = (of: (report: KillReport) => number) =>
    reports.reduce((sum, report) => sum + of(report), 0);
  const daemon = reports.flatMap(({ restarts }) => restarts.daemon);
  const server = reports.flatMap(({ restarts }) => restarts.server);
  return (
    `${total(({ rounds }) => rounds)} rounds, ${failed} runs failed; ` +
    `${total(({ writes }) => writes)} writes confirmed, ${total(({ saves }) => saves)} saves; ` +
    `restarts (target 1000 ms): daemon ${spread(daemon)}, server ${spread(server)}`
  );
}

function spread(times: readonly number[]): string {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (part: number) => Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0);
  return `${times.length} × p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`;
}
