import { join } from "node:path";
import { startRaisedEmulator } from "../emulator.ts";
import type { BulkLoad } from "../load/bulk-load.ts";
import { type Row, verdictOf } from "../row.ts";
import { median, ms, times, whole } from "../sample.ts";

const MEMORIES = 10_000;
const ROUNDS = 5;
const SHORT_ROUNDS = 3;
const TOKEN = "mst_dev_bench";
const MS_MAX = 250;
const LOAD_DEADLINE_MS = 120_000;

/** Many new memories by one plain sync, beside the least that could store as many. */
export const bulk: Row = {
  name: "bulk",
  async run({ programs, folder, short }) {
    const rounds = short ? SHORT_ROUNDS : ROUNDS;
    const dir = await folder();
    const { url } = await startRaisedEmulator(programs, dir);
    const args = [url, TOKEN, join(dir, "bare.db"), String(rounds), String(MEMORIES)];
    const load = await programs.run<BulkLoad>("load/bulk-load.ts", args, LOAD_DEADLINE_MS);
    const [own, bare] = [median(load.syncs), median(load.bare)];
    const ratio = median(load.syncs.map((each, round) => each / (load.bare[round] ?? each)));
    const perMemory = (own * 1000) / MEMORIES;
    const figure =
      `${ms(own)}, ${perMemory.toFixed(0)} µs a memory, ${times(ratio)} as many bare rows with ` +
      `their full-text index (${ms(bare)})`;
    return {
      figures: [
        {
          figure,
          target: `${whole(MEMORIES)} memories in ≤ ${MS_MAX} ms`,
          verdict: verdictOf(own <= MS_MAX),
          ratio: { name: "bulk beside bare rows", value: ratio, better: "lower" },
        },
      ],
      notes: [
        `medians of ${rounds} rounds in turn, each into a new project; from the request's ` +
          "first byte to the answer's last. The bare rows are parsed from the same body, and " +
          "written by one prepared statement in one `synchronous=FULL` transaction.",
      ],
    };
  },
};
