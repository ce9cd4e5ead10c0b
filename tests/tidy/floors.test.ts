import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { importsOf } from "./imports.ts";
import {
  finding,
  listFiles,
  ROOT,
  readSources,
  type Source,
  sampleSources,
} from "./source-tree.ts";

/** Beside the house: these may import anything, and nothing imports them. */
const OUTSIDE = /^(tests|scripts)(\/|$)/;

/** The rows of a document's table of floors, from the roof to the ground. */
async function rowsIn(document: string): Promise<string[][]> {
  const text = await Bun.file(join(ROOT, document)).text();
  return [...text.matchAll(/^\| `(.+?)` \| (.+?) \|(?: `(.+?)` \|)?$/gm)].map((row) =>
    row.slice(1),
  );
}

async function foldersIn(document: string): Promise<string[]> {
  return (await rowsIn(document)).map(([folder = ""]) => folder);
}

const readFloors = () => foldersIn("docs/design/floors.md");

/** Imports that do not go down, and folders that have no floor. */
function againstFloors(
  sources: readonly Source[],
  floors: readonly string[],
  others: readonly string[] = [],
): string[] {
  const files = new Set([...sources.map(({ path }) => path), ...others]);
  const inside = sources.filter(({ path }) => !OUTSIDE.test(path));
  return inside.flatMap((source) => {
    const floor = floors.indexOf(dirname(source.path));
    if (floor === -1) return [`${source.path} is on no floor`];
    return importsOf(source).flatMap(({ path, specifier, node, isComputed }) => {
      if (isComputed)
        return [finding(source, node, `imports ${specifier}, which nobody can check`)];
      // A file by half its name, and a folder, would be looked for on the wrong floor.
      if (path !== undefined && !files.has(path))
        return [finding(source, node, `imports ${specifier}, which is no file's name`)];
      // The manifest of the package stands on the ground.
      if (path === undefined || path === "package.json") return [];
      if (dirname(path) === dirname(source.path)) return [];
      if (floors.indexOf(dirname(path)) > floor) return [];
      return [finding(source, node, `imports ${specifier}, which is not below it`)];
    });
  });
}

test("every folder has a floor, and imports from those below alone", async () => {
  const found = againstFloors(await readSources(), await readFloors(), await listFiles());
  expect(found).toEqual([]);
});

test("every floor has a folder, once", async () => {
  const floors = await readFloors();
  const folders = new Set((await readSources()).map(({ path }) => dirname(path)));
  expect(floors.filter((floor) => !folders.has(floor))).toEqual([]);
  expect(new Set(floors).size).toBe(floors.length);
});

test("ARCHITECTURE.md has the main floors in the order of all", async () => {
  const main = await foldersIn("ARCHITECTURE.md");
  expect(main).not.toEqual([]);
  expect((await readFloors()).filter((floor) => main.includes(floor))).toEqual(main);
});

test("ARCHITECTURE.md says of a floor what the list of all says", async () => {
  const all = new Map(
    (await rowsIn("docs/design/floors.md")).map(([floor, what]) => [floor, what]),
  );
  const main = await rowsIn("ARCHITECTURE.md");
  expect(main.filter(([floor = "", what]) => all.get(floor) !== what)).toEqual([]);
});

test("the first file of a floor begins with what the floor is", async () => {
  const firsts = (await rowsIn("ARCHITECTURE.md")).map(([, , first = ""]) => first);
  const texts = await Promise.all(firsts.map((path) => Bun.file(join(ROOT, path)).text()));
  expect(firsts.filter((_, at) => !texts[at]?.startsWith("// "))).toEqual([]);
});

/** A module that is imported from everywhere, and one in another folder. */
const TOP = { "a/top.ts": "export {};", "a/beside.ts": 'import "./top.ts";' };
const FLOORS = ["a", "a/b"];

test("an import upwards is found in whatever form", async () => {
  const lines = [
    '/// <reference path="../top.ts" />',
    'import "../top.ts";',
    'import type { T } from "../top.ts";',
    'import { type U } from "../top.ts";',
    'import type * as all from "../top.ts";',
    'export type { T } from "../top.ts";',
    'export * from "../top.ts";',
    'export { default as x } from "../top.ts";',
    'export type V = import("../top.ts").T;',
    'export type W = typeof import("../top.ts");',
    'import top = require("../top.ts");',
    'import type old = require("../top.ts");',
    'declare module "../top.ts" { interface T {} }',
    'await import("../top.ts", { with: { type: "json" } });',
    "await import(`../top.ts`);",
    'require("../top.ts");',
    'module.require("../top.ts");',
    'require.resolve("../top.ts");',
    'import.meta.resolve("../top.ts");',
    'import.meta.require("../top.ts");',
    'createRequire(import.meta.url)("../top.ts");',
    'nodeModule.createRequire(import.meta.url).resolve("../top.ts");',
    'new Worker(new URL("../top.ts", import.meta.url));',
    'new Worker("../top.ts");',
    'new threads.Worker("../top.ts");',
    'const url = new URL("../top.ts", import.meta.url);',
  ];
  const sources = await sampleSources({ ...TOP, "a/b/low.ts": lines.join("\n") });
  // A reference is told at the first statement.
  expect(againstFloors(sources, FLOORS)).toEqual(
    lines.map(
      (_, at) => `a/b/low.ts:${Math.max(2, at + 1)} imports ../top.ts, which is not below it`,
    ),
  );
});

test("an import that nobody can check is found, and a loader by another name", async () => {
  const lines = [
    'await import("../" + name);',
    "await import(`../$".concat("{name}.ts`);"),
    'await import(isTop ? "../top.ts" : "./low.ts");',
    "new Worker(program);",
    "const load = require;",
    "const find = require.resolve;",
    "const find2 = import.meta.resolve;",
    "const load2 = createRequire(import.meta.url);",
    'import { createRequire as make } from "node:module";',
    'import { Worker as Thread } from "node:worker_threads";',
    "const Thread2 = globalThis.Worker;",
    "class Thread3 extends Worker {}",
    'new Function("return import(name)");',
    "eval(text);",
  ];
  const sources = await sampleSources({ ...TOP, "a/b/low.ts": lines.join("\n") });
  const found = againstFloors(sources, FLOORS);
  expect(found.every((each) => each.endsWith(", which nobody can check"))).toBe(true);
  expect([...new Set(found.map((each) => Number(/:(\d+) /.exec(each)?.[1])))]).toEqual(
    lines.map((_, at) => at + 1),
  );
});

test("an import of the package by its own name is one of its module", async () => {
  const sources = await sampleSources({
    ...TOP,
    "client/client.ts": "export {};",
    "a/b/low.ts": 'import { createClient } from "memsync/client";',
  });
  expect(againstFloors(sources, ["client", ...FLOORS])).toEqual([
    "a/b/low.ts:1 imports memsync/client, which is not below it",
  ]);
});

test("a file by half its name, a folder, and a file that no floor has are found", async () => {
  const sources = await sampleSources({
    ...TOP,
    "a/b/low.ts": 'import "../top";\nimport "..";\nimport "../../tests/t.ts";\nimport "./none.ts";',
    "a/c/new.ts": "export {};",
    "tests/t.ts": 'import "../a/top.ts";',
  });
  expect(againstFloors(sources, FLOORS)).toEqual([
    "a/b/low.ts:1 imports ../top, which is no file's name",
    "a/b/low.ts:2 imports .., which is no file's name",
    "a/b/low.ts:3 imports ../../tests/t.ts, which is not below it",
    "a/b/low.ts:4 imports ./none.ts, which is no file's name",
    "a/c/new.ts is on no floor",
  ]);
});

test("imports from below, of packages, and what only looks like one are allowed", async () => {
  const lines = [
    'import "./b/low.ts";',
    'import "./beside.ts";',
    'import manifest from "../package.json" with { type: "json" };',
    'import { createRequire } from "node:module";',
    'import { Worker } from "node:worker_threads";',
    'createRequire(here)("node:test");',
    "new Worker(URL.createObjectURL(new Blob([])));",
    "export function f(worker: Worker, require: string) { return typeof require; }",
    'new URL("../b/low.ts", base);',
    'declare module "*.css" { const text: string; export = text; }',
  ];
  const sources = await sampleSources({ ...TOP, "a/all.ts": lines.join("\n"), "a/b/low.ts": "" });
  expect(againstFloors(sources, FLOORS, ["package.json"])).toEqual([]);
});

test("scripts of pages import their neighbours alone, and the house has no other script", async () => {
  const inside = (await listFiles()).filter((path) => !/^(tests|scripts|examples)\//.test(path));
  const scripts = inside.filter((path) => /\.([cm]?jsx?|[cm]ts|tsx)$/.test(path));
  for (const path of scripts) {
    const text = await Bun.file(join(ROOT, path)).text();
    expect(path).toMatch(/^server\/(docs|emulator\/page)\//);
    const named = [...text.matchAll(/(?:\bfrom|\bimport) ?\(? ?["'`]([^"'`]+)/g)];
    expect(named.filter(([, name]) => !/^\.\/[a-z-]+\.js$/.test(name ?? ""))).toEqual([]);
  }
});

/** Folders of files that are alike: their use is a command's, a route's or a rule's own text. */
const ALIKE: ReadonlySet<string> = new Set([
  "cli/commands",
  "cli/demo",
  "conformance/rules",
  "server/openapi",
  "server/routes/api",
  "server/routes/common",
  "server/routes/published",
  "server/routes/v1",
]);

/** Whether a file has a docstring with an example. */
function hasExample({ text }: Pick<Source, "text">): boolean {
  return /^ \* ```$[\s\S]*?^ \* ```$/m.test(text);
}

test("in every folder a main type shows how it is used", async () => {
  const sources = await readSources();
  const shown = new Set(sources.filter(hasExample).map(({ path }) => dirname(path)));
  const floors = (await readFloors()).filter((floor) => !ALIKE.has(floor));
  expect(floors.filter((floor) => !shown.has(floor))).toEqual([]);
  expect(hasExample({ text: "/** Does it. */\nexport const a = 1;\n" })).toBe(false);
});
