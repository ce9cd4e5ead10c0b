import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { bundleTesting } from "../../../scripts/build-testing.ts";
import { bundle } from "../../../scripts/bundle.ts";
import { delay } from "../../../shared/world.ts";
import { realWorld } from "../../../shared/world-real.ts";
import { call, type EmulatorProgram, urlIn } from "../emulator.ts";
import { startJsonServer, writeCollection } from "../mock-servers.ts";
import { besidePeer, PEERS, peerCommand } from "../peers.ts";
import type { Programs } from "../programs.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { mebibytes, median, ms, quantile, times } from "../sample.ts";

const ROOT = join(import.meta.dir, "../../..");
const EMULATOR = join(ROOT, "server/emulator/start-emulator.ts");
const TESTING = join(ROOT, "server/testing/use-memsync.ts");

const MEMORIES = 1000;
const ROUNDS = 21;
const RESTORE_MS_MAX = 20;
const RUNS = 5;
const OUTSIDE_MS_MAX = 300;
const TOKEN = "mst_dev_pro";
const QUIET_MS = 3000;

/** What a test's author waits for: a state forgotten or put back, and a file of tests around it. */
export const emulator: Row = {
  name: "emulator",
  async run(bench) {
    const { programs } = bench;
    const running = await startInMemory(programs);
    await fetch(`${running.url}/healthz`);
    await delay(realWorld, QUIET_MS);
    const idle = running.residentBytes();
    return {
      figures: [
        ...(await stateFigures(running)),
        await idleFigure(bench, idle),
        ...(await besideMsw(bench)),
      ],
      notes: [
        `${MEMORIES} memories of one account, which a call over HTTP forgets or puts back; ` +
          `medians of ${ROUNDS}. A file of 20 tests in Vitest on Node, each of which writes and ` +
          "reads, with a reset before each: all that passes from the first import of what it " +
          "tests with to the end of the last hook, but for the tests' own time; medians of " +
          `${RUNS} runs in turn. MSW has a list in memory, which is made empty before each.`,
      ],
    };
  },
};

async function startInMemory(programs: Programs): Promise<EmulatorProgram> {
  const program = await programs.start("memsync", ["emulator", "--port", "0", "--limits", "off"]);
  return { ...program, url: urlIn(program.line) };
}

/** A control call; resolves to how long it took. */
async function timedControl({ url }: EmulatorProgram, path: string, body: object): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${url}/_emulator/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.text();
  const tookMs = performance.now() - startedAt;
  if (!response.ok) throw new Error(`POST ${path} answered ${response.status}`);
  return tookMs;
}

async function stateFigures(running: EmulatorProgram): Promise<readonly Figure[]> {
  const memories = Array.from({ length: MEMORIES }, (_, at) => ({
    key: `note-${at}`,
    value: `Decision ${at}: the importer reads each file once, and keeps its line endings.`,
  }));
  const of = { token: TOKEN };
  const seed = { projects: [{ id: "proj_bench", name: "bench", memories }] };
  await timedControl(running, "import", { ...seed, ...of });
  const named = { ...of, name: "seeded" };
  const taken = { save: [] as number[], reset: [] as number[], restore: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    taken.save.push(await timedControl(running, "snapshots", named));
    taken.reset.push(await timedControl(running, "reset", of));
    taken.restore.push(await timedControl(running, "snapshots/restore", named));
  }
  const found = await call<{ total: number }>({ ...running, ...of }, "GET", "/v1/memories?limit=1");
  if (found.total !== MEMORIES) throw new Error(`${found.total} memories were put back`);
  const inWords = (name: keyof typeof taken) =>
    `${name}: ${ms(median(taken[name]))} (p90 ${ms(quantile(taken[name], 0.9))})`;
  const isFast = median(taken.restore) <= RESTORE_MS_MAX;
  return [
    {
      figure: `${inWords("restore")}, ${inWords("save")}`,
      target: `a snapshot of ${MEMORIES} memories put back in ≤ ${RESTORE_MS_MAX} ms`,
      verdict: verdictOf(isFast),
    },
    { figure: `${inWords("reset")}`, target: "none", verdict: "not judged" },
  ];
}

async function idleFigure({ programs, folder }: Bench, own: number): Promise<Figure> {
  const said = `${mebibytes(own)} resident`;
  const target = "memory of one that is idle, none";
  const [figure] = await besidePeer(target, async () => {
    const dir = await folder();
    writeCollection(dir, { memories: [] });
    const mock = await startJsonServer(programs, dir);
    await (await fetch(`${mock.url}/memories`)).text();
    await delay(realWorld, QUIET_MS);
    const there = mebibytes(mock.residentBytes());
    await mock.stop();
    return [{ figure: `${said} (json-server ${there})`, target, verdict: "not judged" }];
  });
  return figure ?? { figure: said, target, verdict: "not judged" };
}

interface Measured {
  readonly outsideMs: number;
  readonly insideMs: number;
}

function besideMsw(bench: Bench): Promise<readonly Figure[]> {
  const target = `≤ ${OUTSIDE_MS_MAX} ms outside of 20 tests, beside MSW`;
  return besidePeer(target, async () => {
    const testing = await buildLibrary(await bench.folder());
    const own: Measured[] = [];
    const other: Measured[] = [];
    for (let run = 0; run < RUNS; run++) {
      other.push(await runTests(bench, "twenty-tests-msw.mjs", testing));
      own.push(await runTests(bench, "twenty-tests-memsync.mjs", testing));
    }
    const outside = median(own.map(({ outsideMs }) => outsideMs));
    const inside = median(own.map(({ insideMs }) => insideMs));
    const otherOutside = median(other.map(({ outsideMs }) => outsideMs));
    const otherInside = median(other.map(({ insideMs }) => insideMs));
    const value = outside / otherOutside;
    return [
      {
        figure:
          `${ms(outside)} outside of 20 tests, ${times(value)} MSW (${ms(otherOutside)}); ` +
          `the tests take ${ms(inside)}, with MSW ${ms(otherInside)}`,
        target,
        verdict: verdictOf(outside <= OUTSIDE_MS_MAX),
        ratio: { name: "emulator: a file of tests beside MSW", value, better: "lower" },
      },
    ];
  });
}

/** The library as it is installed; resolves to the path of `memsync/testing`. */
async function buildLibrary(folder: string): Promise<string> {
  const modules = join(folder, "node_modules");
  const dist = join(modules, "memsync/dist");
  await mkdir(dist, { recursive: true });
  await bundle({ programs: { [EMULATOR]: "emulator.mjs" }, target: "node", dist });
  await bundleTesting(TESTING, dist);
  await symlink(join(ROOT, "node_modules/better-sqlite3"), join(modules, "better-sqlite3"));
  return join(dist, "testing.mjs");
}

async function runTests({ programs, folder }: Bench, file: string, testing: string) {
  const result = join(await folder(), "result.json");
  const command = [...(await peerCommand("vitest/vitest.mjs")), "run", "--root", PEERS, file];
  await programs.finish(command, { BENCH_RESULT: result, BENCH_TESTING: testing, CI: "1" });
  return JSON.parse(await readFile(result, "utf8")) as Measured;
}
