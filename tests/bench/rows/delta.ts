import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { type CountingProxy, type Exchange, startCountingProxy } from "../counting-proxy.ts";
import { call, startEmulator } from "../emulator.ts";
import { type Address, type Machine, saveMemory, startMachine } from "../machine-program.ts";
import { notes } from "../notes.ts";
import { besidePeer } from "../peers.ts";
import { startPouchdb } from "../pouchdb.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { mebibytes, median, ms, times, whole } from "../sample.ts";

const ROUNDS = 15;
const TOKEN = "mst_dev_bench";
const LARGE = { id: "proj_bench_large", memories: 10_000 };
const SMALL = { id: "proj_bench_small", memories: 100 };

/** A daemon calls about one project at most once a second. */
const CALL_INTERVAL_MS = 1200;
const LOOK_INTERVAL_MS = 2;
const BYTES_MAX = 2048;
const RATIO_MAX = 2;
const BESIDE = "PouchDB beside it";

/** One changed memory, in a large project and in a small one. */
export const delta: Row = {
  name: "delta",
  async run(bench) {
    const emulator = await startEmulator(bench.programs, await bench.folder());
    for (const { id, memories } of [LARGE, SMALL]) {
      const service = { url: emulator.url, token: TOKEN };
      await call(service, "POST", `/v1/projects/${id}/sync`, { memories: notes(memories) });
    }
    const proxy = await startCountingProxy(emulator.url);
    try {
      const machine = await startLinked(bench, { url: proxy.url, token: TOKEN });
      const large: Sync[] = [];
      const small: Sync[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        small.push(await syncOne(machine, proxy, SMALL.id, round));
        large.push(await syncOne(machine, proxy, LARGE.id, round));
      }
      const held = [machine, emulator].map((each) => mebibytes(each.residentBytes()));
      const peer = await besidePeer(BESIDE, () => besidePouchdb(bench));
      return report(large, small, held, peer);
    } finally {
      await proxy.stop();
    }
  },
};

async function startLinked({ programs, folder }: Bench, service: Address): Promise<Machine> {
  const projects = [LARGE.id, SMALL.id];
  const machine = await startMachine(programs, await folder(), await folder(), service, projects);
  for (const id of projects) await machine.link(await folder(), id);
  await machine.sync();
  return machine;
}

interface Sync extends Exchange {
  readonly tookMs: number;
}

async function syncOne(
  machine: Machine,
  proxy: CountingProxy,
  project: string,
  round: number,
): Promise<Sync> {
  await delay(realWorld, CALL_INTERVAL_MS);
  proxy.take();
  const startedAt = performance.now();
  await saveMemory(machine, project, `note-${round}`, `Decision ${round}, taken once more.`);
  for (;;) {
    const exchange = proxy.take();
    if (exchange) return { ...exchange, tookMs: exchange.answeredAt - startedAt };
    await delay(realWorld, LOOK_INTERVAL_MS);
  }
}

function report(
  large: readonly Sync[],
  small: readonly Sync[],
  held: readonly string[],
  peer: readonly Figure[],
) {
  const up = Math.max(...large.map((sync) => sync.bytesUp));
  const down = Math.max(...large.map((sync) => sync.bytesDown));
  const largeMs = median(large.map((sync) => sync.tookMs));
  const smallMs = median(small.map((sync) => sync.tookMs));
  const ratio = largeMs / smallMs;
  return {
    figures: [
      {
        figure: `${whole(up)} bytes up, ${whole(down)} down`,
        target: "≤ 2 KB up, ≤ 2 KB down",
        verdict: verdictOf(up <= BYTES_MAX && down <= BYTES_MAX),
      },
      {
        figure: `${ms(largeMs)}, ${times(ratio)} that in a project of 100 (${ms(smallMs)})`,
        target: "≤ 2 × the same in a project of 100",
        verdict: verdictOf(ratio <= RATIO_MAX),
        ratio: { name: "delta beside a small project", value: ratio, better: "lower" } as const,
      },
      ...peer,
    ],
    notes: [
      `${ROUNDS} changed memories each, in turn; bytes are the largest seen of the sync call on ` +
        "the wire, with HTTP heads; times are medians from before the save at the gateway to the " +
        `last byte of the service's answer. Afterwards the daemon holds ${held[0]}, the emulator ` +
        `${held[1]}.`,
    ],
  };
}

/** Live replication of one change in a database of as many, its checkpoints included. */
async function besidePouchdb(bench: Bench): Promise<readonly Figure[]> {
  const pouchdb = await startPouchdb(bench, notes(LARGE.memories));
  const changes: (Exchange & { readonly tookMs: number })[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    changes.push(await pouchdb.change(`note-${round}`, `Decision ${round}, taken once more.`));
  }
  await pouchdb.stop();
  const figure =
    `PouchDB: ${whole(Math.max(...changes.map((change) => change.bytesUp)))} bytes up, ` +
    `${whole(Math.max(...changes.map((change) => change.bytesDown)))} down in ` +
    `${Math.max(...changes.map((change) => change.requests))} requests, ` +
    `${ms(median(changes.map((change) => change.tookMs)))}`;
  return [{ figure, target: BESIDE, verdict: "not judged" }];
}
