import { call, type EmulatorProgram, startRaisedEmulator } from "../emulator.ts";
import type { InTurn } from "../load/in-turn.ts";
import { type Bench, type Row, verdictOf } from "../row.ts";
import { median, quantile, whole } from "../sample.ts";
import { fiftyMemories, PATH, PROJECT, TOKEN } from "./read.ts";

const ROUNDS = "120";
const ROUND_MS = "100";
const CONNECTIONS = "32";
const SHARE_MAX = 0.05;

/** Reading with every request counted against a limit, beside reading without. */
export const limits: Row = {
  name: "limits",
  async run(bench) {
    const counted = await startFilled(bench, "on");
    const free = await startFilled(bench, "off");
    const args = [counted.url, free.url, TOKEN, PATH, CONNECTIONS, ROUNDS, ROUND_MS];
    const { one, other } = await bench.programs.run<InTurn>("load/in-turn.ts", args);
    const shares = one.map((each, round) => (other[round] ?? each) / each - 1);
    const share = median(shares);
    const quartiles = [quantile(shares, 0.25), quantile(shares, 0.75)].map(percent).join(" to ");
    const figure =
      `${percent(share)} (${whole(median(one))} a second with limits, ` +
      `${whole(median(other))} without)`;
    return {
      figures: [{ figure, target: "limits add < 5 %", verdict: verdictOf(share < SHARE_MAX) }],
      notes: [
        `the row \`read\` of two emulators alike, ${ROUNDS} pairs of ${ROUND_MS} ms in turn; the ` +
          `share is the median of the pairs', half of which lie within ${quartiles}. The plan is ` +
          "raised beyond what the row asks; what is counted is written once a second, as ever.",
      ],
    };
  },
};

async function startFilled(bench: Bench, limits: "on" | "off"): Promise<EmulatorProgram> {
  const emulator = await startRaisedEmulator(bench.programs, await bench.folder(), limits);
  const service = { url: emulator.url, token: TOKEN };
  await call(service, "POST", `/v1/projects/${PROJECT}/sync`, fiftyMemories());
  return emulator;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
