import { join } from "node:path";
import { call, startEmulator } from "../emulator.ts";
import type { PushLoad } from "../load/push-load.ts";
import { type Row, verdictOf } from "../row.ts";
import { mebibytes, median, ms, times, whole } from "../sample.ts";

const ROUNDS = 15;
const SHORT_ROUNDS = 5;
const PUSHES = 200;
const TOKEN = "mst_dev_bench";
const PROJECT = "proj_bench";
const RATIO_MAX = 3;

/** One client that sends one changed memory at a time, beside bare commits on the same disk. */
export const pushOne: Row = {
  name: "push-one",
  async run({ programs, folder, short }) {
    const rounds = short ? SHORT_ROUNDS : ROUNDS;
    const dir = await folder();
    const emulator = await startEmulator(programs, dir);
    const service = { url: emulator.url, token: TOKEN };
    await call(service, "POST", "/api/projects", { id: PROJECT, name: "bench" });
    const log = join(dir, "bare.db");
    const args = [service.url, TOKEN, PROJECT, log, String(rounds), String(PUSHES)];
    const load = await programs.run<PushLoad>("load/push-load.ts", args);
    const push = median(load.pushes.map(({ p50 }) => p50));
    const commit = median(load.commits.map(({ p50 }) => p50));
    const p99 = median(load.pushes.map((round) => round.p99));
    const ratio = median(load.pushes.map(({ p50 }, at) => p50 / (load.commits[at]?.p50 ?? p50)));
    const figure =
      `p50 ${ms(push)} (p99 ${ms(p99)}, ${whole(1000 / push)} a second), ${times(ratio)} a bare ` +
      `commit (${ms(commit)})`;
    return {
      figures: [
        {
          figure,
          target: "p50 ≤ 3 × bare commit",
          verdict: verdictOf(ratio <= RATIO_MAX),
          ratio: { name: "push-one beside a bare commit", value: ratio, better: "lower" },
        },
      ],
      notes: [
        `${rounds} rounds of ${PUSHES} pushes and ${PUSHES} commits, in turn, one at a time; ` +
          "both `synchronous=FULL` in files of one folder. The emulator holds " +
          `${mebibytes(emulator.residentBytes())} afterwards.`,
      ],
    };
  },
};
