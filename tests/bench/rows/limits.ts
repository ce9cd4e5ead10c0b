import { call, type EmulatorProgram, startRaisedEmulator } from "../emulator.ts";
import type { InTurn } from "../load/in-turn.ts";
import { type Bench, type Row, verdictOf } from "../row.ts";
import { median, quantile, whole } from "../sample.ts";
import { fiftyMemories, PATH, PROJECT, TOKEN } from "./read.ts";

const PAIRS = 5;
const ROUNDS = "24";
const ROUND_MS = "100";
const CONNECTIONS = "32";
const SHARE_MAX = 0.05;

/** Reading with every request counted against a limit, beside reading without. */
export const limits: Row = {
  name: "limits",
  async run(bench) {
    const pairs: Compared[] = [];
    while (pairs.length < PAIRS) pairs.push(await compare(bench));
    const shares = pairs.map(({ shares }) => median(shares));
    const share = median(shares);
    const spread = [quantile(shares, 0), quantile(shares, 1)].map(percent).join(" to ");
    const one = pairs.flatMap((pair) => pair.one);
    const other = pairs.flatMap((pair) => pair.other);
    const figure =
      `${percent(share)} (${whole(median(one))} a second with limits, ` +
      `${whole(median(other))} without)`;
    return {
      figures: [{ figure, target: "limits add < 5 %", verdict: verdictOf(share < SHARE_MAX) }],
      notes: [
        `the row \`read\` of two emulators alike, ${ROUNDS} rounds of ${ROUND_MS} ms in turn, by ` +
          `${PAIRS} pairs of emulators: two processes of one program differ by some percent as ` +
          `long as they live. The share is the median of the pairs', from ${spread}. The plan is ` +
          "raised beyond what the row asks; what is counted is written once a second, as ever.",
      ],
    };
  },
};

interface Compared extends InTurn {
  /** What limits added, by round. */
  readonly shares: readonly number[];
}

async function compare(bench: Bench): Promise<Compared> {
  const counted = await startFilled(bench, "on");
  const free = await startFilled(bench, "off");
  const args = [counted.url, free.url, TOKEN, PATH, CONNECTIONS, ROUNDS, ROUND_MS];
  const { one, other } = await bench.programs.run<InTurn>("load/in-turn.ts", args);
  await Promise.all([counted.stop(), free.stop()]);
  return { one, other, shares: one.map((each, round) => (other[round] ?? each) / each - 1) };
}

async function startFilled(bench: Bench, limits: "on" | "off"): Promise<EmulatorProgram> {
  const emulator = await startRaisedEmulator(bench.programs, await bench.folder(), limits);
  const service = { url: emulator.url, token: TOKEN };
  await call(service, "POST", `/v1/projects/${PROJECT}/sync`, fiftyMemories());
  return emulator;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
