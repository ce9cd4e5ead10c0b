import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { realWorld } from "../../../shared/world-real.ts";
import { MINUTES_LONG, SHORT_LIVED } from "../../support/short-lived.ts";
import type { SeedResult } from "./run-seed.ts";

/** A run lasts half a second; a worker that says nothing for so long goes round in a circle. */
const SILENT_MS_MAX = 90_000;
/** The first twenty runs of a process take half as long again as all others. */
const PER_WORKER_MAX = 250;

/** A worker of so many runs ends before its code is fast. */
const FEW = 2;

/** This many are run by every run of the tests; those behind them in `tests/long`. */
export const FIRST_SEEDS = 10;

/** What a worker prints of one seed. */
export type SeedLine = Omit<SeedResult, "trace"> & {
  readonly cpuMs: number;
  readonly trace?: readonly string[];
};

/** Which seeds to run, or which scenarios by their numbers, and how. */
export interface WorkerOptions {
  readonly first: number;
  readonly count: number;
  /** The name of a mistake to make in the program. */
  readonly mutation?: string;
  /** `first`: the first problem ends it. */
  readonly show?: "quiet" | "trace" | "first";
  readonly what?: "seeds" | "scenarios";
}

/**
 * Runs seeds in a process of its own and gives its lines as they come. A seed that hangs ends it,
 * as a problem.
 */
export async function* runWorker(options: WorkerOptions): AsyncGenerator<SeedLine> {
  const { first, count, mutation = "none", show = "quiet", what = "seeds" } = options;
  const worker = join(import.meta.dir, "worker.ts");
  const args = [process.execPath, worker, mutation, show, String(first), String(count), what];
  const child = Bun.spawn(args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...(count <= FEW ? SHORT_LIVED : MINUTES_LONG) },
  });
  const watched = () => realWorld.setTimer(SILENT_MS_MAX, () => child.kill("SIGKILL"));
  let watch = watched();
  let next = first;
  let failed = false;
  try {
    const output = Readable.fromWeb(child.stdout as Parameters<typeof Readable.fromWeb>[0]);
    for await (const text of createInterface({ input: output })) {
      watch.cancel();
      watch = watched();
      const line = JSON.parse(text) as SeedLine;
      next = line.seed + 1;
      failed ||= line.problems.length > 0;
      yield line;
    }
    const isComplete = next === first + count || (show === "first" && failed);
    if (!isComplete) yield brokenOff(next);
  } finally {
    watch.cancel();
    child.kill("SIGKILL");
  }
}

function brokenOff(seed: number): SeedLine {
  const problems = ["it hung, or ended its process"];
  return { seed, problems, lasted: 0, events: 0, doubled: 0, cpuMs: 0 };
}

/** What many seeds came to. */
export interface Campaign {
  readonly seeds: number;
  readonly failed: readonly SeedLine[];
  readonly cpuMs: number;
  /** Lines that stood twice at the end. */
  readonly doubled: number;
}

/** Runs `count` seeds from `first` on, in `jobs` processes at a time; `onLine` is told of each. */
export async function runSeeds(
  first: number,
  count: number,
  jobs: number,
  onLine?: (line: SeedLine) => void,
): Promise<Campaign> {
  const failed: SeedLine[] = [];
  let [seeds, cpuMs, doubled, next] = [0, 0, 0, first];
  const end = first + count;
  // Equally many for each, so that none is left alone with the last ones.
  const workers = jobs * Math.ceil(count / jobs / PER_WORKER_MAX);
  const job = async () => {
    while (next < end) {
      const from = next;
      const size = Math.min(Math.ceil(count / workers), end - from);
      next += size;
      for await (const line of runWorker({ first: from, count: size })) {
        seeds += 1;
        cpuMs += line.cpuMs;
        doubled += line.doubled;
        if (line.problems.length > 0) failed.push(line);
        onLine?.(line);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, job));
  failed.sort((one, other) => one.seed - other.seed);
  return { seeds, failed, cpuMs, doubled };
}

/** The first line with a problem, or the last line, of what a worker runs. */
export async function firstProblem(options: Parameters<typeof runWorker>[0]): Promise<SeedLine> {
  let last: SeedLine | undefined;
  for await (const line of runWorker(options)) {
    last = line;
    if (line.problems.length > 0) break;
  }
  if (!last) throw new Error("no seed was run");
  return last;
}
