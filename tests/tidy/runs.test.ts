import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { listFiles, ROOT } from "./source-tree.ts";

type Scripts = Readonly<Record<string, string>>;

/** Runs its tests once more, elsewhere: of each of them another run is the first. */
const AGAIN = ["test:node"];

/** The runs of a test file: `test`, which leaves out what bunfig says, and those that name it. */
function runsOf(path: string, scripts: Scripts, ignored: readonly string[]): string[] {
  const quick = ignored.some((pattern) => new Glob(pattern).match(path)) ? [] : ["test"];
  const named = Object.entries(scripts).filter(([name, command]) => {
    if (!name.startsWith("test:") || AGAIN.includes(name)) return false;
    return command.split(" ").some((word) => path.startsWith(`${word}/`));
  });
  return [...quick, ...named.map(([name]) => name)];
}

/** The test files that no run has, or more than one. */
function misplaced(paths: readonly string[], scripts: Scripts, ignored: readonly string[]) {
  return paths
    .map((path) => [path, ...runsOf(path, scripts, ignored)])
    .filter(([, ...runs]) => runs.length !== 1);
}

async function readScripts(): Promise<Scripts> {
  return (await Bun.file(join(ROOT, "package.json")).json()).scripts;
}

test("each test file is in one run", async () => {
  const paths = (await listFiles()).filter((path) => path.endsWith(".test.ts"));
  const { default: settings } = await import("../../bunfig.toml");
  expect(misplaced(paths, await readScripts(), settings.test.pathIgnorePatterns)).toEqual([]);
});

test("each file that is said to last long is there", async () => {
  const { files } = await Bun.file(join(ROOT, "tests/timings.json")).json();
  const there = new Set(await listFiles());
  expect(Object.keys(files).filter((path) => !there.has(path))).toEqual([]);
});

test("CI runs every script that tests", async () => {
  const check = await Bun.file(join(ROOT, "scripts/check.ts")).text();
  const scripts = Object.keys(await readScripts()).filter((name) => /^test(:|$)/.test(name));
  expect(scripts.filter((name) => !new RegExp(`\\["${name}"[\\],]`).test(check))).toEqual([]);
  expect(await Bun.file(join(ROOT, ".ci/run")).text()).toContain("check -- --browser");
});

test("a test file in no run, or in two, is found", () => {
  const scripts = { test: "bun test", "test:a": "bun test tests/a", "test:b": "bun test tests/b" };
  const paths = ["tests/a/x.test.ts", "tests/b/x.test.ts", "tests/c/x.test.ts", "tests/d.test.ts"];
  expect(misplaced(paths, scripts, ["tests/a/**", "tests/c/**"])).toEqual([
    ["tests/b/x.test.ts", "test", "test:b"],
    ["tests/c/x.test.ts"],
  ]);
});
