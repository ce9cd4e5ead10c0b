import { call, type EmulatorProgram, startRaisedEmulator } from "../emulator.ts";
import type { QuietLoad, Waited } from "../load/quiet-account.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { ms, times } from "../sample.ts";

const SECONDS = "15";
const HOT = "mst_dev_hot";
const QUIET = "mst_dev_quiet";
const HOT_CONNECTIONS = "2";
const HOT_MEMORIES = "10000";
const RATIO_MAX = 3;
const P99_MS_MAX = 50;

/** What an account waits for while another one does all that its plan allows. */
export const fair: Row = {
  name: "fair",
  async run(bench) {
    const emulator = await startRaisedEmulator(bench.programs, await bench.folder());
    const quiet = { url: emulator.url, token: QUIET };
    for (let at = 0; at < 5; at++) {
      await call(quiet, "POST", "/api/projects", { id: `proj_quiet_${at}` });
    }
    const alone = await ask(bench, emulator);
    const args = [emulator.url, HOT, HOT_CONNECTIONS, HOT_MEMORIES];
    await bench.programs.start("load/hot-account.ts", args);
    const beside = await ask(bench, emulator);
    return {
      figures: [
        figureOf("GET /v1/projects", { alone: alone.reads, beside: beside.reads }),
        figureOf("POST /v1/memories", { alone: alone.writes, beside: beside.writes }),
      ],
      notes: [
        `an account that reads every 10 ms and writes every 25 ms, for ${SECONDS} s alone and ` +
          `${SECONDS} s beside another one: over each of its ${HOT_CONNECTIONS} connections that ` +
          `overwrites ${HOT_MEMORIES} memories by one sync, once a second at most, ` +
          "which a Team plan allows.",
      ],
    };
  },
};

function ask({ programs }: Bench, { url }: EmulatorProgram): Promise<QuietLoad> {
  return programs.run<QuietLoad>("load/quiet-account.ts", [url, QUIET, SECONDS]);
}

function figureOf(
  what: string,
  { alone, beside }: { readonly alone: Waited; readonly beside: Waited },
): Figure {
  const ratio = beside.p50 / alone.p50;
  return {
    figure:
      `${what}: p50 ${ms(beside.p50)}, ${times(ratio)} alone (${ms(alone.p50)}); ` +
      `p99 ${ms(beside.p99)}, the slowest ${ms(beside.slowest)}`,
    target: `p50 ≤ ${RATIO_MAX} × alone, p99 ≤ ${P99_MS_MAX} ms`,
    verdict: verdictOf(ratio <= RATIO_MAX && beside.p99 <= P99_MS_MAX),
  };
}
