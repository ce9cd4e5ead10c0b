import { call, startRaisedEmulator } from "../emulator.ts";
import type { PageLoad } from "../load/page-load.ts";
import { notes } from "../notes.ts";
import { type Bench, type Row, verdictOf } from "../row.ts";
import { ms, times, whole } from "../sample.ts";

const TOKEN = "mst_dev_bench";
const PROJECT = "proj_bench";
const ROUNDS = "150";
const DEADLINE_MS = 120_000;
const SMALL = { memories: 1000, took: 1 };
const LARGE = { memories: 10_000, ran: 3 };

/** A page of 20 of a project that somebody has just written to. */
export const page: Row = {
  name: "page",
  async run(bench) {
    const small = await measure(bench, SMALL.memories);
    const large = await measure(bench, LARGE.memories);
    const ratio = large.took / small.took;
    return {
      figures: [
        {
          figure: `20 of ${whole(SMALL.memories)} memories: ${ms(small.took)}, ${ranIn(small)}`,
          target: `≤ ${SMALL.took} ms`,
          verdict: verdictOf(small.took <= SMALL.took),
        },
        {
          figure:
            `20 of ${whole(LARGE.memories)}: ${ms(large.took)}, ${ranIn(large)}; ` +
            `${times(ratio)} a page of ${whole(SMALL.memories)}`,
          target: `≤ ${LARGE.ran} ms of the processor`,
          verdict: verdictOf(large.ran <= LARGE.ran),
          ratio: { name: "page of 10,000 beside one of 1,000", value: ratio, better: "lower" },
        },
      ],
      notes: [
        `medians of ${ROUNDS} pages, each after a push, so that none is kept from before; the ` +
          "processor's time is that of the server's whole process, without what as many pushes " +
          "alone took.",
      ],
    };
  },
};

function ranIn({ ran }: PageLoad): string {
  return `${ms(ran)} of the processor`;
}

async function measure({ programs, folder }: Bench, memories: number): Promise<PageLoad> {
  const emulator = await startRaisedEmulator(programs, await folder());
  const service = { url: emulator.url, token: TOKEN };
  await call(service, "POST", `/v1/projects/${PROJECT}/sync`, { memories: notes(memories) });
  const args = [emulator.url, TOKEN, PROJECT, String(emulator.pid), ROUNDS];
  return await programs.run<PageLoad>("load/page-load.ts", args, DEADLINE_MS);
}
