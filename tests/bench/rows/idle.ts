import { join } from "node:path";
import { homeOf } from "../../../daemon/home/home.ts";
import { defineService } from "../../../daemon/supervise/service-definition.ts";
import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { createGitSandbox, type GitSandbox } from "../../support/git-sandbox.ts";
import { type TreeUsage, usageOf } from "../../support/process-figures.ts";
import { buildInto } from "../compiled.ts";
import { type CountingProxy, startCountingProxy } from "../counting-proxy.ts";
import { startRaisedEmulator } from "../emulator.ts";
import { fillHome, type IdleProject, MEMORIES, makeProjects } from "../load/idle-tree.ts";
import type { Address } from "../machine-program.ts";
import { noPeer } from "../peers.ts";
import type { Program, Programs } from "../programs.ts";
import { type Bench, type Figure, type Row, type RowResult, verdictOf } from "../row.ts";
import { mebibytes, whole } from "../sample.ts";
import { startSyncthing } from "../syncthing.ts";

const TOKEN = "mst_dev_bench";
const MS_PER_S = 1000;

/** A start is over with the first sweep, after a minute, and the quiet time a minute after that. */
const SETTLE_SECONDS = 150;

const RESIDENT_BYTES_MAX = 70 * 1024 * 1024;
const CPU_SHARE_MAX = 0.001;
const TARGET = "≤ 70 MB resident, ≤ 0.1 % of a core, 0 requests";
const PEER_TARGET = "syncthing on the same tree";

/** A machine at which nobody writes anything. */
export const idle: Row = {
  name: "idle",
  async run(bench) {
    const sandbox = createGitSandbox();
    try {
      return await report(bench, await besideEachOther(bench, sandbox));
    } finally {
      await bench.programs.stopAll();
      sandbox.remove();
    }
  },
};

/** What a program did while it had nothing to do. */
interface Idled {
  readonly cpuShare: number;
  readonly wakesPerSecond: number;
  /** At the end. */
  readonly usage: TreeUsage;
}

interface BothIdled {
  readonly projects: readonly IdleProject[];
  readonly own: Idled;
  readonly requests: number;
  /** Syncthing, or why it was not there. */
  readonly peer: Idled | Figure;
}

async function besideEachOther(bench: Bench, sandbox: GitSandbox): Promise<BothIdled> {
  const { programs, folder, seconds } = bench;
  const emulator = await startRaisedEmulator(programs, await folder());
  const proxy = await startCountingProxy(emulator.url);
  const service = { url: proxy.url, token: TOKEN };
  const projects = await makeProjects(sandbox);
  const home = await folder();
  await fillHome(programs, home, projects, service);
  try {
    const dirs = projects.map(({ dir }) => dir);
    const peer = await startSyncthing(programs, await folder(), dirs).catch((thrown) =>
      noPeer(thrown, PEER_TARGET),
    );
    const daemon = await startAsService(programs, await installed(bench), home, service);
    await delay(realWorld, SETTLE_SECONDS * MS_PER_S);
    const [{ requests, ...own }, peerIdled] = await Promise.all([
      counted(proxy, () => idled(daemon, seconds)),
      "pid" in peer ? idled(peer, seconds) : peer,
    ]);
    return { projects, own, requests, peer: peerIdled };
  } finally {
    await proxy.stop();
  }
}

/** The command that a package or, where one is measured, the compiled binary installs. */
async function installed({ programs, folder }: Bench): Promise<readonly string[]> {
  if (programs.binary !== undefined) return [programs.binary];
  return [process.execPath, await buildInto(await folder())];
}

/** The daemon as the unit of `memsync install` has systemd start it. */
async function startAsService(
  programs: Programs,
  command: readonly string[],
  dir: string,
  service: Address,
): Promise<Program> {
  const home = homeOf({ MEMSYNC_HOME: dir });
  const { environment } = defineService(home, { ...process.env, MEMSYNC_URL: service.url });
  const variables = {
    ...environment,
    MEMSYNC_TOKEN: service.token,
    MEMSYNC_KEYRING: "off",
    // Nobody listens there; what is sent is lost at once, as fast as it would be taken.
    NOTIFY_SOCKET: join(dir, "notify"),
  };
  const whole = [...command, "daemon", "--started", "service"];
  return await programs.spawnUntil(whole, variables, async () => {
    const answer = await fetch("http://localhost/_memsync/status", { unix: home.socket });
    const { remotes } = (await answer.json()) as { remotes: { service: { online: boolean } }[] };
    return remotes.every((remote) => remote.service.online);
  });
}

async function counted<Result>(
  proxy: CountingProxy,
  run: () => Promise<Result>,
): Promise<Result & { readonly requests: number }> {
  proxy.take();
  const result = await run();
  return { ...result, requests: proxy.take()?.requests ?? 0 };
}

async function idled({ pid }: Program, seconds: number): Promise<Idled> {
  const before = usageOf(pid);
  const startedAt = performance.now();
  await delay(realWorld, seconds * MS_PER_S);
  const tookMs = performance.now() - startedAt;
  const usage = usageOf(pid);
  return {
    cpuShare: (usage.cpuMs - before.cpuMs) / tookMs,
    wakesPerSecond: ((usage.wakes - before.wakes) / tookMs) * MS_PER_S,
    usage,
  };
}

function report({ seconds }: Bench, { projects, own, requests, peer }: BothIdled): RowResult {
  const met =
    own.usage.residentBytes <= RESIDENT_BYTES_MAX &&
    own.cpuShare <= CPU_SHARE_MAX &&
    requests === 0;
  const figure = `${told(own)}, ${requests} requests`;
  return {
    figures: [
      { figure, target: TARGET, verdict: verdictOf(met) },
      "usage" in peer
        ? { figure: `syncthing: ${told(peer)}`, target: PEER_TARGET, verdict: "not judged" }
        : peer,
    ],
    notes: [
      `${projects.length} git projects with a \`CLAUDE.md\`, ${MEMORIES} memories each, the live ` +
        "socket up; the package's daemon as `memsync install` has systemd start it, on a home " +
        "that was filled before. " +
        `${whole(seconds)} s, from ${SETTLE_SECONDS} s after the start, when the first sweep ` +
        "of the database is over. Processor time and voluntary context switches are those of " +
        "all threads and children, and what is shared between processes counts for each in what " +
        "is resident, and by halves in what is proportional. Syncthing idles at the same time: " +
        "one of its folders for each project, which holds the memories as files, its defaults " +
        "otherwise, with nobody connected, no discovery, relays, or page.",
    ],
  };
}

function told({ cpuShare, wakesPerSecond, usage }: Idled): string {
  return (
    `${mebibytes(usage.residentBytes)} resident (${mebibytes(usage.proportionalBytes)} ` +
    `proportional), ${(cpuShare * 100).toFixed(3)} % of a core, ` +
    `woken ${wakesPerSecond.toFixed(1)} times a second`
  );
}
