import { readdirSync, readFileSync, readlinkSync } from "node:fs";

// What Linux tells of processes, see proc(5). A process that ended meanwhile counts for nothing.

/** What a process and all that it has started use. */
export interface TreeUsage {
  /** Processor time so far, in milliseconds; that of children that have ended is among it. */
  readonly cpuMs: number;
  /** How often its threads have waited for something, so how often something woke them. */
  readonly wakes: number;
  /** Memory in bytes; what several processes share counts in each of them. */
  readonly residentBytes: number;
  /** Memory in bytes; of what several processes share each one's part. */
  readonly proportionalBytes: number;
  readonly processes: number;
}

/** What a process has open. */
export interface OpenThings {
  readonly descriptors: number;
  /** What those lead to: paths, and the kinds of what has none, in order. */
  readonly targets: readonly string[];
  /** Watches of all its inotify instances. */
  readonly watches: number;
}

/** `_SC_CLK_TCK` is 100 on every Linux that Bun runs on. */
const MS_PER_TICK = 10;
const BYTES_PER_KB = 1024;

/** Where the fields of `stat` begin that follow the program's name in brackets. */
const CPU_FIELDS = { first: 11, count: 4 };

export function usageOf(pid: number): TreeUsage {
  const all = [pid, ...descendantsOf(pid)];
  const total = (of: (each: number) => number) => all.reduce((sum, each) => sum + of(each), 0);
  return {
    cpuMs: total(cpuMsOf),
    wakes: total(wakesOf),
    residentBytes: total((each) => mappedOf(each, "Rss")),
    proportionalBytes: total((each) => mappedOf(each, "Pss")),
    processes: all.length,
  };
}

export function openThingsOf(pid: number): OpenThings {
  const descriptors = entriesOf(`/proc/${pid}/fd`);
  const targets: string[] = [];
  let watches = 0;
  for (const name of descriptors) {
    const target = targetOf(`/proc/${pid}/fd/${name}`);
    targets.push(target.replace(/:\[\d+\]$/, ""));
    if (target !== "anon_inode:inotify") continue;
    watches += textOf(`/proc/${pid}/fdinfo/${name}`).match(/^inotify /gm)?.length ?? 0;
  }
  return { descriptors: descriptors.length, targets: targets.sort(), watches };
}

/** Memory of one process alone, in bytes. */
export function residentBytesOf(pid: number): number {
  return mappedOf(pid, "Rss");
}

function descendantsOf(pid: number): number[] {
  return entriesOf(`/proc/${pid}/task`).flatMap((task) => {
    const children = textOf(`/proc/${pid}/task/${task}/children`).split(" ");
    const pids = children.filter((child) => child !== "").map(Number);
    return pids.flatMap((child) => [child, ...descendantsOf(child)]);
  });
}

/** Its own time in user and system mode, and that of its children that have ended. */
function cpuMsOf(pid: number): number {
  const text = textOf(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const { first, count } = CPU_FIELDS;
  const ticks = fields.slice(first, first + count).reduce((sum, field) => sum + Number(field), 0);
  return ticks * MS_PER_TICK;
}

function wakesOf(pid: number): number {
  return entriesOf(`/proc/${pid}/task`).reduce((sum, task) => {
    const status = textOf(`/proc/${pid}/task/${task}/status`);
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1] ?? 0);
  }, 0);
}

function mappedOf(pid: number, what: "Rss" | "Pss"): number {
  const mapped = new RegExp(`^${what}:\\s+(\\d+) kB$`, "m");
  return Number(mapped.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * BYTES_PER_KB;
}

function entriesOf(folder: string): string[] {
  return orNothing(() => readdirSync(folder), []);
}

function textOf(path: string): string {
  return orNothing(() => readFileSync(path, "utf8"), "");
}

function targetOf(path: string): string {
  return orNothing(() => readlinkSync(path), "");
}

function orNothing<Found>(read: () => Found, nothing: Found): Found {
  try {
    return read();
  } catch {
    return nothing;
  }
}
