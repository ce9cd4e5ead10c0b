// `npm test`: all tests but those that bunfig's `pathIgnorePatterns` names, on every core. What
// they start as a process of its own is the binary, made of this checkout first: people run it, and
// it is ready in a third of the sources' time. Takes what `bun test` does: files, `-t`.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "./bundle.ts";

const ROOT = join(import.meta.dir, "..");

/** Scenarios that run at a time in each worker; they wait more than they compute. */
const SCENARIOS = 3;

const folder = await mkdtemp(join(tmpdir(), "memsync-tested-"));
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
      env: { ...process.env, MEMSYNC_TEST_BINARY: binary },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  process.exitCode = await tests.exited;
} finally {
  await rm(folder, { recursive: true });
}
