import { join } from "node:path";
import { call, type EmulatorProgram, startEmulator } from "../emulator.ts";
import type { PushLoad } from "../load/push-load.ts";
import type { ReadLoad } from "../load/read-load.ts";
import type { Bench, Row } from "../row.ts";
import { verdictOf } from "../row.ts";
import { median, ms, times, whole } from "../sample.ts";

const ACCOUNTS = "10000";
const PROJECTS = "20";
const FILL_DEADLINE_MS = 600_000;
const TOKEN = "mst_dev_bench";
const PROJECT = "proj_bench";
const ROUNDS = 5;
const PUSH_ROUNDS = "3";
const PUSHES = "200";
const RATIO_MAX = 1.5;

/** What one account sees of a database that many others fill, beside one that is its own. */
export const crowd: Row = {
  name: "crowd",
  async run(bench) {
    const [own, shared] = [await bench.folder(), await bench.folder()];
    const args = [join(shared, "emulator.db"), ACCOUNTS, PROJECTS];
    await bench.programs.run("load/fill-crowd.ts", args, FILL_DEADLINE_MS);
    const alone = await startWithMemories(bench, own);
    const among = await startWithMemories(bench, shared);
    const reads: number[] = [];
    const pushes: number[] = [];
    let last = { read: 0, push: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const [readAlone, readAmong] = [await read(bench, alone), await read(bench, among)];
      const [pushAlone, pushAmong] = [
        await push(bench, alone, join(own, `${round}.db`)),
        await push(bench, among, join(shared, `${round}.db`)),
      ];
      reads.push(readAlone / readAmong);
      pushes.push(pushAmong / pushAlone);
      last = { read: readAmong, push: pushAmong };
    }
    const [readRatio, pushRatio] = [median(reads), median(pushes)];
    return {
      figures: [
        {
          figure: `read: ${whole(last.read)} a second, an empty one is ${times(readRatio)} as fast`,
          target: "≤ 1.5 × an empty database",
          verdict: verdictOf(readRatio <= RATIO_MAX),
          ratio: {
            name: "crowd: read beside an empty database",
            value: readRatio,
            better: "lower",
          },
        },
        {
          figure: `push: p50 ${ms(last.push)}, ${times(pushRatio)} an empty one's`,
          target: "≤ 1.5 × an empty database",
          verdict: verdictOf(pushRatio <= RATIO_MAX),
          ratio: {
            name: "crowd: push beside an empty database",
            value: pushRatio,
            better: "lower",
          },
        },
      ],
      notes: [
        `${ACCOUNTS} other accounts with ${PROJECTS} projects each in the same database; medians ` +
          `of ${ROUNDS} rounds, in turn with an emulator that has none of them. It holds ` +
          `${whole(among.residentBytes() / 2 ** 20)} MiB, the other ` +
          `${whole(alone.residentBytes() / 2 ** 20)}.`,
      ],
    };
  },
};

async function startWithMemories(bench: Bench, dir: string): Promise<EmulatorProgram> {
  const emulator = await startEmulator(bench.programs, dir);
  const memories = Array.from({ length: 50 }, (_, at) => ({
    key: `note-${at}`,
    value: "x".repeat(140),
  }));
  await call({ ...emulator, token: TOKEN }, "POST", `/v1/projects/${PROJECT}/sync`, { memories });
  await call({ ...emulator, token: TOKEN }, "POST", "/api/projects", { id: "proj_pushed" });
  return emulator;
}

/** Answers a second. */
async function read({ programs }: Bench, { url }: EmulatorProgram): Promise<number> {
  const path = `/v1/memories?project_id=${PROJECT}`;
  return (await programs.run<ReadLoad>("load/read-load.ts", [url, TOKEN, path, "32", "1"]))
    .perSecond;
}

/** The median of single pushes, in milliseconds. */
async function push({ programs }: Bench, { url }: EmulatorProgram, log: string): Promise<number> {
  const args = [url, TOKEN, "proj_pushed", log, PUSH_ROUNDS, PUSHES];
  const load = await programs.run<PushLoad>("load/push-load.ts", args);
  return median(load.pushes.map(({ p50 }) => p50));
}
