#!/usr/bin/env node
// The command `memsync` as npm puts it there: starts the compiled binary of this platform's
// package, or the Bun build under the `bun` dependency where there is none. Where install scripts
// run, `link-binary.ts` puts the binary in the place of this file. It is all that runs on Node, so
// it loads nothing but what starts a process.
import { dirname, join } from "node:path";
import { CHANGED_ARGUMENT, changeOf, rawArguments } from "../../cli/place/changed-arguments.ts";
import { findBinary } from "./find-binary.ts";
import { findBun } from "./find-bun.ts";
import { complain, fail, run } from "./run.ts";

/** What runs memsync, and its first arguments; undefined when npm left out all that could. */
function findCommand(): readonly [string, ...string[]] | undefined {
  const search = findBinary();
  if (search.kind === "found") return [search.path];
  if (search.kind === "mismatch") {
    const { name, version } = search;
    complain(`${name} is of version ${version} and is not used: install memsync again`);
  }
  const bun = findBun();
  return bun === undefined ? undefined : [bun, ...bunArguments()];
}

/**
 * What Bun is given: nothing of the folder that the user stands in, whose `bunfig.toml` and `.env`
 * belong to another program.
 */
function bunArguments(): string[] {
  const dist = join(dirname(require.main?.filename ?? ""), "..");
  const config = `--config=${join(dist, "bunfig.toml")}`;
  return [config, "--no-env-file", "--no-install", join(dist, "cli.js")];
}

const USED_WRONGLY = 2;

const given = process.argv.slice(2);
const command = findCommand();
if (changeOf(given, rawArguments) === "proven") {
  // Node hands on the decoded text, which the program can't tell from what was typed.
  fail(CHANGED_ARGUMENT, USED_WRONGLY);
} else if (command === undefined) {
  fail(
    `no package that memsync could run from is there for ${process.platform} on ${process.arch}: ` +
      "install memsync again without leaving optional dependencies out",
  );
} else {
  const [program, ...args] = command;
  run(program, [...args, ...given], given.find((each) => !each.startsWith("-")) === "exec");
}
