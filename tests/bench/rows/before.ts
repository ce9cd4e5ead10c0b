import { spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { urlIn } from "../emulator.ts";
import type { AccountsAsked, AccountsLoad } from "../load/many-accounts.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { median, ms, times, whole } from "../sample.ts";

/** The last commit whose server knew no database but a file. */
const BEFORE = "4c1376f5";
const ROOT = join(import.meta.dir, "../../..");
const ACCOUNTS = 64;
const ROUNDS = 6;
const PUSHES = 15;
const SINGLE = 300;
const STARTS = 5;
const DEADLINE_MS = 300_000;
const RATIO_MIN = 0.97;

/** What a server on a file does beside the one before there was a PostgreSQL, in turn. */
export const before: Row = {
  name: "before",
  async run(bench) {
    const former = await checkOut(bench);
    if (former === undefined) {
      const figure = `there is no commit ${BEFORE} in this checkout`;
      return { figures: [{ figure, target: "none", verdict: "not judged" }], notes: [] };
    }
    const own = bench.programs.memsync();
    const starts = await startsOf(bench, { own, former });
    const load = await loadOf(bench, { own, former });
    return {
      figures: figuresOf(starts, load),
      notes: [
        `SQLite beside commit ${BEFORE}, both as emulators on a file, in turn: ${ACCOUNTS} ` +
          `accounts, ${ROUNDS} rounds of ${PUSHES} pushes of each; ${SINGLE} pushes one by one; ` +
          `reads on 32 connections for a second; medians of ${STARTS} starts.`,
      ],
    };
  },
};

interface Commands {
  readonly own: readonly string[];
  readonly former: readonly string[];
}

/** The command of the former program; undefined where there is no history. */
async function checkOut({ folder }: Bench): Promise<readonly string[] | undefined> {
  const into = await folder();
  const command = `git archive ${BEFORE} | tar -x -C "$0"`;
  const { status } = spawnSync("bash", ["-o", "pipefail", "-c", command, into], { cwd: ROOT });
  if (status !== 0) return undefined;
  symlinkSync(join(ROOT, "node_modules"), join(into, "node_modules"));
  return [process.execPath, join(into, "cli/main.ts")];
}

async function startEach({ programs, folder }: Bench, command: readonly string[]) {
  const args = ["emulator", "--port", "0", "--limits", "off", "--data-dir", await folder()];
  return await programs.spawn([...command, ...args]);
}

async function startsOf(bench: Bench, { own, former }: Commands) {
  const took: { own: number[]; former: number[] } = { own: [], former: [] };
  for (let round = 0; round < STARTS; round++) {
    for (const [name, command] of [["own", own] as const, ["former", former] as const]) {
      const startedAt = performance.now();
      const program = await startEach(bench, command);
      took[name].push(performance.now() - startedAt);
      await program.stop();
    }
  }
  return { own: median(took.own), former: median(took.former) };
}

async function loadOf(bench: Bench, { own, former }: Commands): Promise<AccountsLoad> {
  const tokens = Array.from({ length: ACCOUNTS }, (_, at) => `mst_dev_account${at}`);
  const target = async (name: string, command: readonly string[]) => {
    const urls = [urlIn((await startEach(bench, command)).line)];
    return { name, urls, tokens, keeps: true };
  };
  const targets = [await target("own", own), await target("former", former)];
  const asked: AccountsAsked = { targets, rounds: ROUNDS, pushes: PUSHES, single: SINGLE };
  const args = [JSON.stringify(asked)];
  return await bench.programs.run<AccountsLoad>("load/many-accounts.ts", args, DEADLINE_MS);
}

function figuresOf(
  starts: { readonly own: number; readonly former: number },
  { perSecond, single, reads }: AccountsLoad,
): Figure[] {
  const figure = (what: string, ratio: number): Figure => ({
    figure: `${what}, ${times(ratio)} as fast as before`,
    target: `≥ ${RATIO_MIN} ×`,
    verdict: verdictOf(ratio >= RATIO_MIN),
  });
  const rate = (of: Readonly<Record<string, number>>, name: string) => of[name] ?? Number.NaN;
  const p50 = (name: string) => single[name]?.p50 ?? Number.NaN;
  const [pushes, were] = [rate(perSecond, "own"), rate(perSecond, "former")];
  const [read, wasRead] = [rate(reads, "own"), rate(reads, "former")];
  return [
    figure(`push: ${whole(pushes)} a second (${whole(were)})`, pushes / were),
    figure(`push-one: ${ms(p50("own"))} (${ms(p50("former"))})`, p50("former") / p50("own")),
    figure(`read: ${whole(read)} a second (${whole(wasRead)})`, read / wasRead),
    figure(`start: ${ms(starts.own)} (${ms(starts.former)})`, starts.former / starts.own),
  ];
}
