// `npm test`: all tests but those that bunfig's `pathIgnorePatterns` names, on every core. What
// they start as a process of its own is the binary, made of this checkout first: people run it, and
// it is ready in a third of the sources' time. Takes what `bun test` does: files, `-t`. Begins with
// the files that last longest, which `tests/timings.json` names, so that no core waits for one in
// the end, and says which they were. `MEMSYNC_RENEW_TIMINGS=1` writes down how long they lasted.
// Where nothing is named, the tests in a browser come last; `--no-browser` leaves them out.
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { placeInMemory } from "../tests/support/disk.ts";
import { MINUTES_LONG } from "../tests/support/short-lived.ts";
import { compile } from "./bundle.ts";
import { testInBrowser } from "./test-in-browser.ts";

const ROOT = join(import.meta.dir, "..");

/** More workers than cores, and some scenarios at a time in each: they often wait. */
const WORKERS_PER_CORE = 2;
const SCENARIOS = 3;

const OPEN_TO_ALL = 0o1777;
/** All may start what is in it. */
const OTHERS_READ = 0o755;

/** As the runner reads and writes it: milliseconds by file. */
interface Timings {
  readonly version: 1;
  readonly files: Readonly<Record<string, number>>;
}

const TIMINGS = join(ROOT, "tests/timings.json");
/** What lasts less may come at any time. */
const LONG_MS = 5000;
/** At most this many of the slowest files are told. */
const TOLD = 10;
const MS_PER_S = 1000;

async function readTimings(path: string): Promise<Timings> {
  return await Bun.file(path).json();
}

/** The files that were run now: what was measured anew is never the same number. Slowest first. */
async function slowest(measured: string): Promise<[string, number][]> {
  const { files: known } = await readTimings(TIMINGS);
  const { files } = await readTimings(measured);
  return Object.entries(files)
    .filter(([path, ms]) => known[path] !== ms)
    .sort(([, one], [, other]) => other - one);
}

function tellSlowest(files: readonly [string, number][]): void {
  const lines = files.slice(0, TOLD).map(([path, ms]) => {
    return `${(ms / MS_PER_S).toFixed(1).padStart(7)} s  ${path}`;
  });
  process.stdout.write(`\nthe files that lasted longest\n${lines.join("\n")}\n`);
}

/** Files that were not run now keep the time that they took last, as long as they are there. */
async function renewTimings(measured: readonly [string, number][]): Promise<void> {
  const { files: known } = await readTimings(TIMINGS);
  const all = Object.entries({ ...known, ...Object.fromEntries(measured) });
  const long = all.filter(([path, ms]) => ms >= LONG_MS && existsSync(join(ROOT, path)));
  const sorted = long.sort(([, one], [, other]) => other - one);
  const files = Object.fromEntries(sorted.map(([path, ms]) => [path, Math.round(ms)]));
  await writeFile(TIMINGS, `${JSON.stringify({ version: 1, files }, undefined, 2)}\n`);
}

const NO_BROWSER = "--no-browser";

const given = process.argv.slice(2);
const asked = given.filter((each) => each !== NO_BROWSER);
const isRenewed = process.env.MEMSYNC_RENEW_TIMINGS !== undefined;
if (isRenewed && asked.includes("-t")) {
  throw new Error("MEMSYNC_RENEW_TIMINGS is for whole files: leave -t away");
}

const folder = await mkdtemp(join(tmpdir(), "memsync-tested-"));
// Some tests start what is in it as another user.
await chmod(folder, OTHERS_READ);
// In memory, but for what is about disks. Short, as a socket's path has to be; open to all, for
// some tests are another user.
const folders = await mkdtemp(join(placeInMemory(), "ms-"));
await chmod(folders, OPEN_TO_ALL);
try {
  const binary = join(folder, "memsync");
  await compile(join(ROOT, "cli/main.ts"), binary);
  const workers = Math.ceil(availableParallelism() * WORKERS_PER_CORE);
  // One file's modules are the next one's too, as in a single process.
  const flags = [`--parallel=${workers}`, "--no-isolate", "--timeout", "30000"];
  const timings = join(folder, "timings.json");
  await Bun.write(timings, Bun.file(TIMINGS));
  const order = [`--timings=${timings}`, "--update-timings"];
  const scenarios = ["--max-concurrency", String(SCENARIOS)];
  const tests = Bun.spawn([process.execPath, "test", ...flags, ...order, ...scenarios, ...asked], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...MINUTES_LONG,
      MEMSYNC_TEST_BINARY: binary,
      MEMSYNC_TEST_DISK: tmpdir(),
      TMPDIR: folders,
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  // Interrupted, it still clears its folders away.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => tests.kill(signal));
  }
  process.exitCode = await tests.exited;
  const files = await slowest(timings);
  if (files.length > 1) tellSlowest(files);
  if (isRenewed) await renewTimings(files);
  if (given.length === 0) process.exitCode = Math.max(process.exitCode, await testInBrowser());
} finally {
  // What is left of them is no reason to fail.
  for (const each of [folder, folders]) await rm(each, { recursive: true }).catch(() => {});
}
