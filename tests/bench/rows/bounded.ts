import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { call, type EmulatorProgram, startRaisedEmulator } from "../emulator.ts";
import type { QuietLoad } from "../load/quiet-account.ts";
import { notes } from "../notes.ts";
import type { Program } from "../programs.ts";
import { type Bench, type Row, verdictOf } from "../row.ts";
import { mebibytes, ms } from "../sample.ts";

const HOSTILE = "mst_dev_hostile";
const QUIET = "mst_dev_quiet";
const PROJECT = "proj_hostile";
const WHOLE_SENDERS = "100";
const SENDERS = "200";
const READERS = "200";
const MEMORIES = 10_000;
const VALUE_BYTES = 1200;
const SECONDS = "5";
const BYTES_MAX = 400 * 1024 * 1024;
const LOOK_EVERY_MS = 100;
const DEADLINE_MS = 300_000;

/** What a server holds while many hold it up, and whether it answers others. */
export const bounded: Row = {
  name: "bounded",
  async run(bench) {
    const emulator = await startRaisedEmulator(bench.programs, await bench.folder());
    const hostile = { url: emulator.url, token: HOSTILE };
    const memories = notes(MEMORIES).map(({ key, value }) => ({
      key,
      value: value.padEnd(VALUE_BYTES, "."),
    }));
    await call(hostile, "POST", `/v1/projects/${PROJECT}/sync`, { memories });
    const idle = emulator.residentBytes();
    const watch = watchPeak(emulator);
    const path = `/v1/memories?project_id=${PROJECT}`;
    const args = [emulator.url, HOSTILE, path, WHOLE_SENDERS, SENDERS, READERS];
    await bench.programs.start("load/hostile-crowd.ts", args, {}, DEADLINE_MS);
    const { reads } = await ask(bench, emulator);
    const peak = await watch.end();
    const figure =
      `at most ${mebibytes(peak)} (${mebibytes(idle)} before them); another account is answered ` +
      `after ${ms(reads.p50)} (p99 ${ms(reads.p99)})`;
    return {
      figures: [
        {
          figure,
          target: `under ${mebibytes(BYTES_MAX)} and answering`,
          verdict: verdictOf(peak < BYTES_MAX),
        },
      ],
      notes: [
        `${WHOLE_SENDERS} clients of seven accounts that send whole bodies: 250,000 empty lists, ` +
          `syncs of 10,000 and 250 memories of 950 bytes, exchanges of 63 MiB; ` +
          `${SENDERS} of one account that send 16 of 64 MiB and no more, and ${READERS} ` +
          `that fetch nothing of a list of ${MEMORIES} memories of ${VALUE_BYTES} bytes; ` +
          `memory is looked at every ${LOOK_EVERY_MS} ms, and for ${SECONDS} s after all came.`,
      ],
    };
  },
};

function ask({ programs }: Bench, { url }: EmulatorProgram): Promise<QuietLoad> {
  return programs.run<QuietLoad>("load/quiet-account.ts", [url, QUIET, SECONDS], DEADLINE_MS);
}

/** Looks until it is ended; the end resolves to the most memory that there was. */
function watchPeak(program: Program): { end(): Promise<number> } {
  let ended = false;
  let peak = 0;
  const watching = (async () => {
    while (!ended) {
      peak = Math.max(peak, program.residentBytes());
      await delay(realWorld, LOOK_EVERY_MS);
    }
  })();
  return {
    async end() {
      ended = true;
      await watching;
      return peak;
    },
  };
}
