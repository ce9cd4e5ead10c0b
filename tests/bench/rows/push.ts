import { join } from "node:path";
import { call, type EmulatorProgram, startRaisedEmulator, urlIn } from "../emulator.ts";
import type { ManyPushes } from "../load/many-pushes.ts";
import { besidePeer, type Peer, startPeer } from "../peers.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { mebibytes, median, times, whole } from "../sample.ts";

const CLIENTS = 64;
const ROUNDS = "12";
const SHORT_ROUNDS = "4";
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
    const own = bench.short
      ? await besideBare(bench, emulator)
      : await besidePeer(TARGET, () => besideHocuspocus(bench, emulator));
    return {
      figures: own,
      notes: [
        `${CLIENTS} clients on as many projects, each with one update under way; ` +
          `${bench.short ? SHORT_ROUNDS : ROUNDS} rounds of ${PUSHES} updates each, in turn; ` +
          "medians. Ours are counted and acknowledged after a `synchronous=FULL` commit; " +
          "Hocuspocus stores a document in SQLite some seconds after that. The emulator holds " +
          `${mebibytes(emulator.residentBytes())} afterwards.`,
      ],
    };
  },
};

async function besideHocuspocus(
  bench: Bench,
  emulator: EmulatorProgram,
): Promise<readonly Figure[]> {
  const database = join(await bench.folder(), "hocuspocus.db");
  const peer = await startPeer(bench.programs, "hocuspocus-server.mjs", [database, TOKEN]);
  const found = await pushInTurn(bench, emulator, { rounds: ROUNDS, peer });
  const ratio = ratioTo(found, found.peer);
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
    bareFigure(found),
  ];
}

async function besideBare(bench: Bench, emulator: EmulatorProgram): Promise<readonly Figure[]> {
  return [bareFigure(await pushInTurn(bench, emulator, { rounds: SHORT_ROUNDS }))];
}

function bareFigure(found: ManyPushes): Figure {
  const ratio = ratioTo(found, found.bare);
  return {
    figure:
      `${times(ratio)} a bare Bun.serve that keeps each as one row ` +
      `(${whole(median(found.bare))} a second; ours ${whole(median(found.own))})`,
    target: "none",
    verdict: "not judged",
    ratio: { name: "push beside a bare server", value: ratio, better: "higher" },
  };
}

function ratioTo({ own }: ManyPushes, others: readonly number[]): number {
  return median(own.map((each, round) => each / (others[round] ?? each)));
}

async function pushInTurn(
  { programs, folder }: Bench,
  { url }: EmulatorProgram,
  { rounds, peer }: { readonly rounds: string; readonly peer?: Peer },
): Promise<ManyPushes> {
  const path = join(await folder(), "bare.db");
  const bare = urlIn((await programs.start("bare/push-server.ts", [path])).line);
  const args = [url, TOKEN, String(CLIENTS), rounds, PUSHES, bare];
  const beside = peer ? [peer.url, TOKEN] : [];
  return await programs.run("load/many-pushes.ts", [...args, ...beside], LOAD_DEADLINE_MS);
}
