import { identifyProject } from "../../../daemon/git/identity.ts";
import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { createGitSandbox, type GitSandbox } from "../../support/git-sandbox.ts";
import { type Exchange, startCountingProxy } from "../counting-proxy.ts";
import { call, startRaisedEmulator } from "../emulator.ts";
import { type Address, startMachine } from "../machine-program.ts";
import { notes } from "../notes.ts";
import { besidePeer } from "../peers.ts";
import { startPouchdb } from "../pouchdb.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { median, ms, whole } from "../sample.ts";

const MEMORIES = 10_000;
const ROUNDS = 3;
const TOKEN = "mst_dev_bench";
const REQUESTS_MAX = 5;
const MS_MAX = 2000;

/** Longer than a daemon waits between two calls about one project. */
const SETTLE_MS = 1500;

/** What an empty machine needs until it has all the memories of a project. */
export const first: Row = {
  name: "first",
  async run(bench) {
    const sandbox = createGitSandbox();
    try {
      const arrivals: Arrival[] = [];
      for (let round = 0; round < ROUNDS; round++) arrivals.push(await arrive(bench, sandbox));
      return report(arrivals, await besidePeer("PouchDB beside it", () => besidePouchdb(bench)));
    } finally {
      sandbox.remove();
    }
  },
};

interface Arrival extends Exchange {
  readonly tookMs: number;
}

function report(arrivals: readonly Arrival[], peer: readonly Figure[]) {
  const requests = Math.max(...arrivals.map((each) => each.requests));
  const tookMs = median(arrivals.map((each) => each.tookMs));
  const figure = `${requests} requests, ${ms(tookMs)}`;
  const target = `≤ ${REQUESTS_MAX} requests, ≤ 2 s`;
  const met = requests <= REQUESTS_MAX && tookMs <= MS_MAX;
  return {
    figures: [{ figure, target, verdict: verdictOf(met) }, ...peer],
    notes: [
      "from the start of `memsync up` in a fresh clone, on an empty home, to the gateway's " +
        `answer that holds all ${whole(MEMORIES)} memories, on the disk by then; median of ` +
        `${ROUNDS}. Requests are all that the daemon makes, the live socket's handshake among ` +
        "them and those of the seconds after; " +
        `${whole(arrivals[0]?.bytesDown ?? 0)} bytes come down. PouchDB: from an empty ` +
        "LevelDB in a running process to the end of `replicate.from`.",
    ],
  };
}

async function arrive(bench: Bench, sandbox: GitSandbox): Promise<Arrival> {
  const dir = await sandbox.repository(crypto.randomUUID(), { "README.md": "first\n" });
  await sandbox.run(dir, "remote", "add", "origin", "https://example.com/bench/first.git");
  const identity = await identifyProject(sandbox.git, dir);
  if (identity.kind !== "origin") throw new Error("a clone was not known by its origin");
  const { projectId } = identity;
  const emulator = await startRaisedEmulator(bench.programs, await bench.folder());
  const filled = { url: emulator.url, token: TOKEN };
  await call(filled, "POST", `/v1/projects/${projectId}/sync`, { memories: notes(MEMORIES) });
  const proxy = await startCountingProxy(emulator.url);
  try {
    const startedAt = performance.now();
    const service = { url: proxy.url, token: TOKEN };
    const machine = await startMachine(bench.programs, await bench.folder(), dir, service, [
      projectId,
    ]);
    await machine.until(() => hasAll(machine.gateway, projectId), "all memories to arrive");
    const tookMs = performance.now() - startedAt;
    await delay(realWorld, SETTLE_MS);
    const exchange = proxy.take();
    if (!exchange) throw new Error("a machine asked for nothing");
    await machine.stop();
    return { ...exchange, tookMs };
  } finally {
    await proxy.stop();
    await emulator.stop();
  }
}

async function hasAll(gateway: Address, project: string): Promise<true | undefined> {
  const path = `/v1/memories?project_id=${project}&layer=project&limit=1`;
  // Not there at first: the machine learns of the project by its first call.
  const { total } = await call<{ total: number }>(gateway, "GET", path).catch(() => NONE);
  return total === MEMORIES ? true : undefined;
}

const NONE = { total: 0 };

async function besidePouchdb(bench: Bench): Promise<readonly Figure[]> {
  const pouchdb = await startPouchdb(bench, notes(MEMORIES));
  const found = await pouchdb.first();
  await pouchdb.stop();
  if (found.documents !== MEMORIES) throw new Error(`PouchDB fetched ${found.documents}`);
  const figure = `PouchDB: ${found.requests} requests, ${ms(found.tookMs)}`;
  return [{ figure, target: "PouchDB beside it", verdict: "not judged" }];
}
