// `npm test`: all tests but those that bunfig's `pathIgnorePatterns` names, on every core. What
// they start as a process of its own is the binary, made of this checkout first: people run it, and
// it is ready in a third of the sources' time. Takes what `bun test` does: files, `-t`.
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { placeInMemory } from "../tests/support/disk.ts";
import { compile } from "./bundle.ts";

const ROOT = join(import.meta.dir, "..");

/** Scenarios that run at a time in each worker; they wait more than they compute. */
const SCENARIOS = 3;

const OPEN_TO_ALL = 0o1777;

const folder = await mkdtemp(join(tmpdir(), "memsync-tested-"));
// In memory, but for what is about disks. Short, as a socket's path has to be; open to all, for
// some tests are another user.
const folders = await mkdtemp(join(placeInMemory(), "ms-"));
await chmod(folders, OPEN_TO_ALL);
try {
  const binary = join(folder, "memsync");
  await compile(join(ROOT, "cli/main.ts"), binary);
  // One file's modules are the next one's too, as in a single process.
  const flags = ["--parallel", "--no-isolate", "--timeout", "30000"];
  const scenarios = ["--max-concurrency", String(SCENARIOS)];
  const tests = Bun.spawn(
    [process.execPath, "test", ...flags, ...scenarios, ...process.argv.slice(2)],
    {
      cwd: ROOT,
      env: {
        ...process.env,
        MEMSYNC_TEST_BINARY: binary,
        MEMSYNC_TEST_DISK: tmpdir(),
        TMPDIR: folders,
      },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  // Interrupted, it still clears its folders away.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => tests.kill(signal));
  }
  process.exitCode = await tests.exited;
} finally {
  // What is left of them is no reason to fail.
  for (const each of [folder, folders]) await rm(each, { recursive: true }).catch(() => {});
}
