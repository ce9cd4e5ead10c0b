#!/usr/bin/env node
// The installed command `memsync`: runs the Bun build beside it under the `bun` dependency. It is
// all that runs on Node, so it loads nothing but what starts a process.
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Until its install script has run, `bun` holds a short text in place of its executable. */
const EXECUTABLE_BYTES_MIN = 1_000_000;

/** Each ends the command; a terminal sends them to all of its processes, Bun's among them. */
const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const FAILED = 1;

/** The executable of the `bun` dependency; undefined when npm left it out. */
function findBun(): string | undefined {
  try {
    const require = createRequire(import.meta.url);
    const manifest = require.resolve("bun/package.json");
    const installed = join(dirname(manifest), "bin", "bun.exe");
    return isExecutable(installed) ? installed : findPlatformBun(manifest);
  } catch {
    return undefined;
  }
}

/** Where the executable lies when install scripts were not run: in the package of this platform. */
function findPlatformBun(manifest: string): string | undefined {
  const require = createRequire(manifest);
  const { optionalDependencies } = require(manifest) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const folders = require.resolve.paths("bun") ?? [];
  return Object.keys(optionalDependencies)
    .flatMap((name) => folders.map((folder) => join(folder, name, "bin")))
    .flatMap((folder) => [join(folder, "bun"), join(folder, "bun.exe")])
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  return existsSync(path) && statSync(path).size >= EXECUTABLE_BYTES_MIN;
}

/**
 * What Bun is given: nothing of the folder that the user stands in, whose `bunfig.toml` and `.env`
 * belong to another program.
 */
function bunArguments(): string[] {
  const dist = dirname(fileURLToPath(import.meta.url));
  const config = `--config=${join(dist, "bunfig.toml")}`;
  return [config, "--no-env-file", "--no-install", join(dist, "cli.js"), ...process.argv.slice(2)];
}

function run(bun: string): void {
  // Newer Nodes can hand the process over, which leaves no Node waiting beside Bun.
  if (process.platform !== "win32" && process.execve !== undefined) {
    process.execve(bun, [bun, ...bunArguments()], process.env);
  }
  const child = spawn(bun, bunArguments(), { stdio: "inherit" });
  for (const signal of ENDING_SIGNALS) {
    // Sent on as SIGTERM, because the terminal may have sent this one to the child as well, and a
    // second of the same kind would end it at once.
    process.on(signal, () => child.kill("SIGTERM"));
  }
  child.on("error", (error) => fail(`${bun} can't be started (${error.message})`));
  child.on("exit", (status, signal) => {
    process.exitCode = status ?? FAILED;
    if (signal !== null) endBy(signal);
  });
}

/** Ends this process as its child ended, so that whoever waits for it sees the same. */
function endBy(signal: NodeJS.Signals): void {
  for (const each of ENDING_SIGNALS) process.removeAllListeners(each);
  process.kill(process.pid, signal);
}

function fail(problem: string): void {
  process.stderr.write(`memsync: ${problem}\n`);
  process.exitCode = FAILED;
}

const bun = findBun();
if (bun === undefined) {
  fail(
    `the package bun, under which memsync runs, is missing for ${process.platform} on ` +
      `${process.arch}: install memsync again without leaving optional dependencies out`,
  );
} else {
  run(bun);
}
