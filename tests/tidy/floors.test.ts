import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import {
  finding,
  importsOf,
  ROOT,
  readSources,
  type Source,
  sampleSources,
} from "./source-tree.ts";

/** Beside the house: these may import anything, and nothing imports them. */
const OUTSIDE = /^(tests|scripts)(\/|$)/;

/** The folders of a document's table, from the roof to the ground. */
async function foldersIn(document: string): Promise<string[]> {
  const text = await Bun.file(join(ROOT, document)).text();
  return [...text.matchAll(/^\| `(.+?)` \|/gm)].map(([, folder]) => folder ?? "");
}

const readFloors = () => foldersIn("docs/design/floors.md");

/** Imports that do not go down, and folders that have no floor. */
function againstFloors(sources: readonly Source[], floors: readonly string[]): string[] {
  const inside = sources.filter(({ path }) => !OUTSIDE.test(path));
  return inside.flatMap((source) => {
    const floor = floors.indexOf(dirname(source.path));
    if (floor === -1) return [`${source.path} is on no floor`];
    return importsOf(source).flatMap(({ path, specifier, node, isComputed }) => {
      if (isComputed)
        return [finding(source, node, `imports ${specifier}, which nobody can check`)];
      // The manifest of the package stands on the ground.
      if (path === undefined || path === "package.json") return [];
      if (dirname(path) === dirname(source.path)) return [];
      if (floors.indexOf(dirname(path)) > floor) return [];
      return [finding(source, node, `imports ${specifier}, which is not below it`)];
    });
  });
}

test("every folder has a floor, and imports from those below alone", async () => {
  expect(againstFloors(await readSources(), await readFloors())).toEqual([]);
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

test("an import upwards is found in whatever form, and so is a folder without a floor", async () => {
  const sources = await sampleSources({
    "a/top.ts": 'import "../a/b/low.ts";\nimport "./beside.ts";',
    "a/beside.ts": "export {};",
    "a/b/low.ts": 'export type { T } from "../top.ts";\nawait import("../beside.ts");',
    "a/b/more.ts": [
      "await import(`../top.ts`);",
      'await import("../" + name);',
      'new Worker(new URL("../top.ts", import.meta.url));',
      'new Worker("../beside.ts");',
      'export * from "../top.ts";',
      'export type U = import("../top.ts").T;',
      'import { createClient } from "memsync/client";',
      'import top = require("../top.ts");',
      "new Worker(URL.createObjectURL(new Blob([])));",
      'import { join } from "node:path";',
    ].join("\n"),
    "a/c/new.ts": "export {};",
    "tests/t.ts": 'import "../a/top.ts";',
  });
  expect(againstFloors(sources, ["a", "a/b"])).toEqual([
    "a/b/low.ts:1 imports ../top.ts, which is not below it",
    "a/b/low.ts:2 imports ../beside.ts, which is not below it",
    "a/b/more.ts:1 imports ../top.ts, which is not below it",
    'a/b/more.ts:2 imports "../" + name, which nobody can check',
    "a/b/more.ts:3 imports ../top.ts, which is not below it",
    "a/b/more.ts:4 imports ../beside.ts, which is not below it",
    "a/b/more.ts:5 imports ../top.ts, which is not below it",
    "a/b/more.ts:6 imports ../top.ts, which is not below it",
    "a/b/more.ts:7 imports memsync/client, which is not below it",
    "a/b/more.ts:8 imports ../top.ts, which is not below it",
    "a/c/new.ts is on no floor",
  ]);
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
