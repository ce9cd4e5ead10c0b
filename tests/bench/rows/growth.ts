import { call, type EmulatorProgram, startRaisedEmulator } from "../emulator.ts";
import { ASKED, type GrowthLoad } from "../load/growth-asked.ts";
import type { Chart } from "../plot.ts";
import { type Bench, type Figure, type Row, verdictOf } from "../row.ts";
import { median, ms, times, whole } from "../sample.ts";

const TOKEN = "mst_dev_bench";
const PROJECT = "proj_grow_0";
const ROUNDS = "20";
const STARTS = 3;
const LOAD_DEADLINE_MS = 600_000;
const MEMORIES_AT_ONCE = 10_000;
const PROJECTS_AT_ONCE = 32;
/** This many memories of a project have the word that is searched for. */
const NEEDLES = 10;

/** What one change costs must not depend on what is there besides. */
const FLAT: readonly string[] = ["push", "pull"];
const FLAT_MAX = 2;
/** Where little is asked for, most of the time is the same for any size: two steps tell more. */
const STEPS = 2;
/** Noise of a shared machine: what is worse than n log n by less is not. */
const SLACK = 2;
/** Less is not told from nothing; and nothing has no place on a logarithmic scale. */
const MS_MIN = 0.5;
const MS_DRAWN_MIN = 0.01;

/** What grows, in which steps, and what there is of the others. */
interface Growth {
  readonly of: "memories" | "machines" | "projects";
  readonly sizes: readonly number[];
  readonly told: string;
}

const GROWTHS: readonly Growth[] = [
  { of: "memories", sizes: [100, 1000, 10_000, 100_000], told: "memories of a project" },
  { of: "machines", sizes: [1, 10, 100, 1000], told: "machines on the live socket" },
  { of: "projects", sizes: [1, 10, 100, 1000, 10_000], told: "projects of an account" },
];
/** For a look whether anything has become worse. */
const SHORT: readonly Growth[] = [
  { of: "memories", sizes: [100, 10_000], told: "memories of a project" },
];

/** What was measured at one size: milliseconds, and megabytes in memory. */
interface Measured extends GrowthLoad {
  readonly size: number;
  readonly start: number;
  readonly memory: number;
}

const TIMED = [...ASKED, "start"] as const;

/** How times and memory grow with what a service holds. */
export const growth: Row = {
  name: "growth",
  async run(bench) {
    const figures: Figure[] = [];
    const times: Chart[] = [];
    const memory: Chart[] = [];
    for (const growing of bench.short ? SHORT : GROWTHS) {
      const measured: Measured[] = [];
      for (const size of growing.sizes) measured.push(await measure(bench, growing, size));
      figures.push(figureOf(growing, measured));
      times.push(chartOf("Time", growing, { unit: "ms", measured, names: TIMED }));
      memory.push(chartOf("Memory", growing, { unit: "MB", measured, names: ["memory"] }));
    }
    return {
      figures,
      charts: [...times, ...memory],
      notes: [
        `medians of ${ROUNDS} rounds, in each of which one memory is pushed, so that no answer ` +
          "is kept from before: the push, the pull of that change by another machine, when the " +
          "last machine on the live socket has been told, the whole list, a page of 20 of it, a " +
          `search that finds ${NEEDLES}, and a live socket until it has subscribed to all ` +
          "projects, but to 1,000 at most. Besides what grows there are 100 memories, one " +
          "machine and one project. " +
          `\`start\`: to the first page, median of ${STARTS} starts from source.`,
      ],
    };
  },
};

async function measure(bench: Bench, { of }: Growth, size: number): Promise<Measured> {
  const dir = await bench.folder();
  const emulator = await startRaisedEmulator(bench.programs, dir);
  await fillProject(emulator, of === "memories" ? size : 100);
  const projects = of === "projects" ? size : 1;
  await fillProjects(emulator, projects);
  const machines = of === "machines" ? size : 1;
  const args = [emulator.url, TOKEN, PROJECT, String(projects), String(machines), ROUNDS];
  const load = await bench.programs.run<GrowthLoad>("load/growth-load.ts", args, LOAD_DEADLINE_MS);
  const memory = emulator.residentBytes() / 2 ** 20;
  await emulator.stop();
  return { size, ...load, memory, start: await startAgain(bench, dir) };
}

async function fillProject(emulator: EmulatorProgram, count: number): Promise<void> {
  const path = `/v1/projects/${PROJECT}/sync`;
  for (let first = 0; first < count; first += MEMORIES_AT_ONCE) {
    const some = Math.min(MEMORIES_AT_ONCE, count - first);
    const memories = Array.from({ length: some }, (_, at) => memoryOf(first + at));
    await call({ ...emulator, token: TOKEN }, "POST", path, { memories });
  }
}

/** Short, so that a document has room for 100,000 of them. */
function memoryOf(at: number) {
  const value = at < NEEDLES ? `A needle, number ${at}.` : `Decision ${at} of this one.`;
  return { key: `m-${at}`, value };
}

async function fillProjects(emulator: EmulatorProgram, count: number): Promise<void> {
  for (let first = 1; first < count; first += PROJECTS_AT_ONCE) {
    const some = Math.min(PROJECTS_AT_ONCE, count - first);
    const made = Array.from({ length: some }, (_, at) => {
      const path = `/v1/projects/proj_grow_${first + at}/sync`;
      return call({ ...emulator, token: TOKEN }, "POST", path, { memories: [memoryOf(NEEDLES)] });
    });
    await Promise.all(made);
  }
}

async function startAgain(bench: Bench, dir: string): Promise<number> {
  const starts: number[] = [];
  for (let at = 0; at < STARTS; at++) {
    const startedAt = performance.now();
    const emulator = await startRaisedEmulator(bench.programs, dir);
    const path = `/v1/memories?project_id=${PROJECT}&limit=20`;
    await call({ ...emulator, token: TOKEN }, "GET", path);
    starts.push(performance.now() - startedAt);
    await emulator.stop();
  }
  return median(starts);
}

function figureOf({ told, of }: Growth, measured: readonly Measured[]): Figure {
  const [first, last] = [measured[0], measured.at(-1)];
  if (!first || !last) throw new Error("nothing was measured");
  const steps = TIMED.map((name) => `${name} ${ms(first[name])} to ${ms(last[name])}`);
  const flat = FLAT.map((name) => ratioOf(measured, name));
  const steep = TIMED.filter((name) => isSteep(measured, name));
  const worst = Math.max(...flat);
  const flatness = `push and pull at most ${times(worst)} as long`;
  const problem = steep.length > 0 ? `; worse than n log n: ${steep.join(", ")}` : "";
  const ten = measured.find(({ size }) => size === 10_000);
  return {
    figure:
      `${whole(first.size)} to ${whole(last.size)} ${told}: ${flatness}; ${steps.join(", ")}; ` +
      `${whole(first.memory)} to ${whole(last.memory)} MB${problem}`,
    target: `push and pull ≤ ${FLAT_MAX} ×, nothing worse than n log n`,
    verdict: verdictOf(worst <= FLAT_MAX && steep.length === 0),
    ...(of === "memories" &&
      ten && {
        ratio: {
          name: "growth: push among 10,000 memories beside 100",
          value: ten.push / first.push,
          better: "lower",
        },
      }),
  };
}

function ratioOf(measured: readonly Measured[], name: string): number {
  const [first, last] = [measured[0], measured.at(-1)].map((each) => timeOf(each, name));
  return (last ?? 1) / (first ?? 1);
}

function timeOf(measured: Measured | undefined, name: string): number {
  const found = measured && Object.entries(measured).find(([each]) => each === name)?.[1];
  return Math.max(found ?? MS_MIN, MS_MIN);
}

/** Whether some steps from one size to another took more than n log n allows. */
function isSteep(measured: readonly Measured[], name: string): boolean {
  return measured.slice(STEPS).some((next, at) => {
    const before = measured[at];
    if (!before) return false;
    const allowed = (next.size * logOf(next.size)) / (before.size * logOf(before.size));
    return timeOf(next, name) > SLACK * allowed * timeOf(before, name);
  });
}

function logOf(size: number): number {
  return Math.log2(Math.max(size, 2));
}

function chartOf(
  what: string,
  { told }: Growth,
  {
    unit,
    measured,
    names,
  }: {
    readonly unit: string;
    readonly measured: readonly Measured[];
    readonly names: readonly ((typeof TIMED)[number] | "memory")[];
  },
): Chart {
  const series = names.map((name) => ({
    name,
    points: measured.map((each) => [each.size, Math.max(each[name], MS_DRAWN_MIN)] as const),
  }));
  return { title: `${what} by ${told}`, sizes: told, unit, series };
}
