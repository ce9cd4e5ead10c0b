import { join } from "node:path";
import { call, type EmulatorProgram, startRaisedEmulator } from "../emulator.ts";
import type { ManyPushes } from "../load/many-pushes.ts";
import { besidePeer, startPeer } from "../peers.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { mebibytes, median, times, whole } from "../sample.ts";

const CLIENTS = 64;
const ROUNDS = "12";
const PUSHES = "50";
const LOAD_DEADLINE_MS = 300_000;
const TOKEN = "mst_dev_bench";
const TARGET = "≥ what Hocuspocus acknowledges unstored";

/** Many clients that each send one changed memory at a time, acknowledged when it is stored. */
export const push: Row = {
  name: "push",
  async run(bench) {
    const emulator = await startRaisedEmulator(bench.programs, await bench.folder());
    const service = { url: emulator.url, token: TOKEN };
    for (let at = 0; at < CLIENTS; at++) {
      await call(service, "POST", "/api/projects", { id: `proj_bench_${at}` });
    }
    return {
      figures: await besidePeer(TARGET, () => besideHocuspocus(bench, emulator)),
      notes: [
        `${CLIENTS} clients on as many projects, each with one update under way; ` +
          `${ROUNDS} rounds of ${PUSHES} updates each, in turn, the same updates to both; ` +
          "medians. Ours are counted and acknowledged after a `synchronous=FULL` commit; " +
          "Hocuspocus stores a document in SQLite some seconds after that. The emulator holds " +
          `${mebibytes(emulator.residentBytes())} afterwards.`,
      ],
    };
  },
};

async function besideHocuspocus(
  { programs, folder }: Bench,
  { url }: EmulatorProgram,
): Promise<readonly Figure[]> {
  const database = join(await folder(), "hocuspocus.db");
  const peer = await startPeer(programs, "hocuspocus-server.mjs", [database, TOKEN]);
  const args = [url, TOKEN, String(CLIENTS), ROUNDS, PUSHES, peer.url, TOKEN];
  const found = await programs.run<ManyPushes>("load/many-pushes.ts", args, LOAD_DEADLINE_MS);
  const ratio = median(found.own.map((each, round) => each / (found.peer[round] ?? each)));
  const figure =
    `${whole(median(found.own))} stored a second, ${times(ratio)} what Hocuspocus acknowledges ` +
    `unstored (${whole(median(found.peer))})`;
  return [
    {
      figure,
      target: TARGET,
      verdict: verdictOf(ratio >= 1),
      ratio: { name: "push beside Hocuspocus", value: ratio, better: "higher" },
    },
  ];
}
