import { join } from "node:path";
import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { openCommitLog } from "../bare/commit-log.ts";
import { call, startEmulator } from "../emulator.ts";
import { type Address, type Machine, saveMemory, startMachine } from "../machine-program.ts";
import { ask, noPeer, startPeer } from "../peers.ts";
import { type Bench, type Figure, type Row, type RowResult, verdictOf } from "../row.ts";
import { mebibytes, median, ms, quantile, times } from "../sample.ts";

const TOKEN = "mst_dev_bench";
const PROJECT = "proj_bench_live";

/** Writes that come faster are coalesced, to stay inside the plan. */
const WRITE_INTERVAL_MS = 2000;

/** A write waits for the disk on one machine, at the service and on the other machine. */
const BARE_LOGS = ["one.db", "service.db", "other.db"];
const ROW_BYTES = 200;

const P50_MS_MAX = 8;
const P99_MS_MAX = 40;
const PEER_RATIO_MAX = 5;
const PEER_TARGET = "≤ 5 × Hocuspocus in memory";

/** From a memory saved on one machine to the same memory read on another. */
export const live: Row = {
  name: "live",
  async run(bench) {
    const { programs, folder, writes } = bench;
    const emulator = await startEmulator(programs, await folder());
    const service = { url: emulator.url, token: TOKEN };
    await call(service, "POST", "/api/projects", { id: PROJECT, name: "live" });
    const one = await startLinked(bench, service);
    const other = await startLinked(bench, service);
    const bareFolder = await folder();
    const logs = BARE_LOGS.map((name) => openCommitLog(join(bareFolder, name)));
    const peer = await startPair(bench);
    const took: number[] = [];
    const disk: number[] = [];
    const peerTook: number[] = [];
    for (let write = 0; write < writes; write++) {
      await delay(realWorld, WRITE_INTERVAL_MS / 2);
      disk.push(commitEach(logs));
      if (peer.kind === "ready") peerTook.push(await peer.write(write));
      await delay(realWorld, WRITE_INTERVAL_MS / 2);
      took.push(await propagate(one, other, write));
    }
    const held = [one, other, emulator].map((each) => mebibytes(each.residentBytes()));
    const beside = peer.kind === "ready" ? compared(median(took), median(peerTook)) : peer.figure;
    return report(took, disk, held, beside);
  },
};

function report(
  took: readonly number[],
  disk: readonly number[],
  held: readonly string[],
  beside: Figure,
): RowResult {
  const [p50, p99] = [median(took), quantile(took, 0.99)];
  return {
    figures: [
      {
        figure: `p50 ${ms(p50)}, p99 ${ms(p99)}`,
        target: `p50 ≤ ${P50_MS_MAX} ms, p99 ≤ ${P99_MS_MAX} ms`,
        verdict: verdictOf(p50 <= P50_MS_MAX && p99 <= P99_MS_MAX),
      },
      beside,
    ],
    notes: [
      `${took.length} writes, one every ${WRITE_INTERVAL_MS / 1000} s, from before the request ` +
        "to one gateway to after the other's answer that holds it; two daemons and the emulator, " +
        "each a process. Between them a bare commit in each of three files took p50 " +
        `${ms(median(disk))}, p99 ${ms(quantile(disk, 0.99))}: what the disk alone takes of a ` +
        "write at this pace. Up to 100 writes the p99 is the slowest. Afterwards the daemons " +
        `hold ${held[0]} and ${held[1]}, the emulator ${held[2]}. Hocuspocus writes once ` +
        "for each of ours, from one client's document to the other's; both are in one process.",
    ],
  };
}

function compared(own: number, peer: number): Figure {
  const ratio = own / peer;
  const figure = `p50 ${times(ratio)} Hocuspocus from memory to memory (${ms(peer)})`;
  return {
    figure,
    target: PEER_TARGET,
    verdict: verdictOf(ratio <= PEER_RATIO_MAX),
    ratio: { name: "live beside Hocuspocus", value: ratio, better: "lower" },
  };
}

/** Two of its clients in one process beside its server's, or why there are none. */
type Pair =
  | { readonly kind: "ready"; write(write: number): Promise<number> }
  | { readonly kind: "missing"; readonly figure: Figure };

async function startPair({ programs, folder }: Bench): Promise<Pair> {
  try {
    const database = join(await folder(), "hocuspocus.db");
    const server = await startPeer(programs, "hocuspocus-server.mjs", [database, TOKEN]);
    const url = server.url.replace(/^http/, "ws");
    const pair = await startPeer(programs, "hocuspocus-pair.mjs", [url, TOKEN]);
    return {
      kind: "ready",
      async write(write) {
        const content = contentOf(write);
        return (await ask<{ tookMs: number }>(pair, "write", { content })).tookMs;
      },
    };
  } catch (thrown) {
    return { kind: "missing", figure: noPeer(thrown, PEER_TARGET) };
  }
}

function contentOf(write: number): string {
  return `Decision ${write}, as it was taken on one machine.`;
}

/** A commit in each; the time of all, in milliseconds. */
function commitEach(logs: readonly ((payload: Uint8Array) => number)[]): number {
  return logs.reduce((tookMs, commit) => tookMs + commit(new Uint8Array(ROW_BYTES)), 0);
}

async function startLinked({ programs, folder }: Bench, service: Address): Promise<Machine> {
  const machine = await startMachine(programs, await folder(), await folder(), service, [PROJECT]);
  await machine.link(await folder(), PROJECT);
  await machine.sync();
  return machine;
}

async function propagate(from: Machine, to: Machine, write: number): Promise<number> {
  const content = contentOf(write);
  const startedAt = performance.now();
  const [, readAt] = await Promise.all([
    saveMemory(from, PROJECT, "decision", content),
    to.until(async () => {
      const path = `/v1/memories?project_id=${PROJECT}&layer=project`;
      const { memories } = await call<{ memories: { content: string }[] }>(to.gateway, "GET", path);
      return memories.some((each) => each.content === content) ? performance.now() : undefined;
    }, "a memory to reach the other machine"),
  ]);
  return readAt - startedAt;
}
