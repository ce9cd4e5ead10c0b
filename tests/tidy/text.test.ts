import { expect, test } from "bun:test";
import { basename, join } from "node:path";
import { listFiles, ROOT } from "./source-tree.ts";

const COLUMNS_MAX = 100;

/** What can't be broken: the name of a test, a regular expression. */
const UNBROKEN = /^\s*((test|describe)\(["'`].*\{|["'`].*["'`],|\/[^*/].*\/[a-z]*[;,]?)$/;

/** Written by programs, not by people. */
const GENERATED = /(^|\/)package-lock\.json$/;

/** What must not stand in a line of any file, and why. The patterns do not match themselves. */
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\b(TO[D]O|FIXM[E]|XX[X]|HAC[K])\b/, "is a note of work left to do"],
  [/@ts-(nocheck|ignore)\b(?!\|)/, "turns off the types"],
  [/\bbiome-ignore-all\b/, "turns off the linter for a file"],
  [/(^|[\s"'`(=:])\/(home|root|work|Users)\/\w/, "names a folder of somebody's machine"],
  [/\bregistry\.[a-z][a-z0-9-]*\.[a-z]/, "names a package registry's host"],
  [/[\t\u00a0\u200b\u2028\ufeff]/, "holds white space that can't be seen"],
  [/\/\*\* (So (many|long)|As many|Nor|Then) /, "begins a comment without its subject"],
];

/** The contents of text files, by path. */
type Files = Readonly<Record<string, string>>;

async function readFiles(): Promise<Files> {
  const paths = (await listFiles()).filter((path) => !GENERATED.test(path));
  const texts = await Promise.all(paths.map((path) => Bun.file(join(ROOT, path)).text()));
  return Object.fromEntries(paths.map((path, at) => [path, texts[at] ?? ""]));
}

function badLines(files: Files): string[] {
  return Object.entries(files).flatMap(([path, text]) =>
    text.split("\n").flatMap((line, at) => {
      const problems = FORBIDDEN.filter(([pattern]) => pattern.test(line)).map(([, why]) => why);
      if (path.endsWith(".ts") && isTooLong(line)) problems.push("is too long");
      return problems.map((problem) => `${path}:${at + 1} ${problem}`);
    }),
  );
}

function isTooLong(line: string): boolean {
  return line.length > COLUMNS_MAX && !UNBROKEN.test(line);
}

/** Names that say what is in a file, in the one form; Biome looks at those of modules as well. */
function badNames(paths: Iterable<string>): string[] {
  const named = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/;
  const document = /^([A-Z]+(\.md)?|Dockerfile)$/;
  const vague = /^(utils?|helpers?|misc|common|index)\.ts$/;
  return [...paths].filter((path) => {
    const name = basename(path);
    return vague.test(name) || !(named.test(name) || document.test(name));
  });
}

test("no line is too long or holds what is not for keeps", async () => {
  expect(badLines(await readFiles())).toEqual([]);
});

test("files are named for what is in them, in small letters and hyphens", async () => {
  expect(badNames(Object.keys(await readFiles()))).toEqual([]);
});

test("what is not for keeps is found", () => {
  const lines = [
    "// TO".concat("DO: more"),
    "// @ts-".concat("nocheck"),
    'const path = "/ho'.concat('me/someone";'),
    "https://registry.".concat("example.org/package"),
    "a\u00a0b",
    "x".repeat(101),
    `/** ${"x".repeat(100)} */`,
    `  /${"x".repeat(100)}/u,`,
    `  test("${"x".repeat(100)}", () => {`,
    "/** So ".concat("many are kept. */"),
    "this and https://example.org/home/page may stay",
  ];
  expect(badLines({ "shared/a.ts": lines.join("\n"), "README.md": "x".repeat(200) })).toEqual([
    "shared/a.ts:1 is a note of work left to do",
    "shared/a.ts:2 turns off the types",
    "shared/a.ts:3 names a folder of somebody's machine",
    "shared/a.ts:4 names a package registry's host",
    "shared/a.ts:5 holds white space that can't be seen",
    "shared/a.ts:6 is too long",
    "shared/a.ts:7 is too long",
    "shared/a.ts:10 begins a comment without its subject",
  ]);
});

test("a name in another form, or that says nothing, is found", () => {
  const names = ["shared/aB.ts", "shared/a_b.ts", "server/utils.ts", "shared/index.ts"];
  const good = ["shared/a-b.test.ts", "README.md", "LICENSE", ".gitignore", "docs/a-b.md"];
  expect(badNames([...names, ...good])).toEqual(names);
});
