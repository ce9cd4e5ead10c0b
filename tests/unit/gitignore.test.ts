import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { isIgnoredBy, parseIgnorePatterns } from "../../daemon/ignored/gitignore.ts";
import { createGitSandbox } from "../support/git-sandbox.ts";

const sandbox = createGitSandbox();
afterAll(() => sandbox.remove());

/** Asks git itself which of the paths a text names. */
async function namedByGit(text: string, paths: readonly string[]): Promise<string[]> {
  const file = sandbox.path("patterns");
  writeFileSync(file, text);
  const { env, folder } = sandbox;
  const own = ["-c", "core.quotePath=false", "-c", "core.ignoreCase=true"];
  const asked = ["check-ignore", "--no-index", "-z", "--stdin"];
  const at = sandbox.path("repository");
  Bun.spawnSync(["git", "init", "-q", at], { cwd: folder, env });
  const git = ["git", ...own, "-c", `core.excludesFile=${file}`, ...asked];
  const stdin = Buffer.from(paths.map((path) => `${path}\0`).join(""));
  const { stdout } = Bun.spawnSync(git, { cwd: at, env, stdin });
  return stdout.toString().split("\0").filter(Boolean);
}

function namedByUs(text: string, paths: readonly string[]): string[] {
  const patterns = parseIgnorePatterns(text);
  return paths.filter((path) => isIgnoredBy(patterns, path));
}

const PATHS = [
  ...["CLAUDE.md", "a.md", "docs/a.md", "docs/deep/a.md", "docs/b", "x/docs/a.md", "a b.md"],
  ...["#a", "!a", "foo/bar/baz", "foo/baz", "[a", "auto-memory/one.md", "a ", "a\\b"],
];

test("what the documentation of git shows is named so by git, and by us", async () => {
  const texts = [
    "CLAUDE.md\n",
    "claude.MD",
    "*.md\n!docs/a.md\n",
    "docs/\n!docs/a.md\n",
    "/docs/*\n!/docs/a.md\n",
    "**/a.md",
    "foo/**/baz",
    "foo/**",
    "**/foo/",
    "docs/**/a.md\r\n",
    "# a comment\n\\#a\n\\!a\n",
    "a\\ b.md\na\\ \n",
    "a b.md   \n",
    "[a-c].md\n[!a-c].md",
    "?.md",
    "[[:digit:][:alpha:]].md",
    "[]a].md",
    "[a",
    "docs/deep",
    "/a.md",
    "a\\\\b",
    "**",
    "/**",
    "\uFEFFa.md",
    "/",
    "",
  ];
  for (const text of texts) {
    expect([text, namedByUs(text, PATHS)]).toEqual([text, await namedByGit(text, PATHS)]);
  }
});

test("whatever the patterns are, git names the same paths", async () => {
  // Git knows no path with such names; what a line with them means is another test's.
  const isName = (pieces: readonly string[]) => !/^\.\.?$/.test(pieces.join(""));
  const piece = fc.constantFrom("a", "b", "A", "*", "?", "[ab]", "[!a]", "\\*", "md", ".");
  const name = fc.oneof(
    { arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).filter(isName), weight: 4 },
    { arbitrary: fc.constant(["**"]), weight: 1 },
  );
  const line = fc
    .tuple(
      fc.constantFrom("", "", "!"),
      fc.constantFrom("", "", "/"),
      fc.array(name, { minLength: 1, maxLength: 3 }),
      fc.constantFrom("", "", "/"),
    )
    .map(([not, begin, names, end]) => {
      return `${not}${begin}${names.map((each) => each.join("")).join("/")}${end}`;
    });
  const char = fc.constantFrom("a", "b", "B", ".", "*", "c");
  const part = fc
    .array(char, { minLength: 1, maxLength: 3 })
    .map((chars) => chars.join(""))
    .filter((each) => each !== "." && each !== "..");
  const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
      async (lines, paths) => {
        const text = lines.join("\n");
        expect(namedByUs(text, paths)).toEqual(await namedByGit(text, paths));
      },
    ),
    { numRuns: 60 },
  );
});

test("a pattern that others wrote never takes long", () => {
  const text = `${"*a".repeat(300)}\n${"**/a/".repeat(300)}b\n`;
  const path = `${"a".repeat(250)}/`.repeat(40);
  expect(isIgnoredBy(parseIgnorePatterns(text), `${path}c`)).toBe(false);
});

test("a letter is one character, however it is encoded", () => {
  const paths = ["\u00e4.md", "a\u0308.md", "\u00c4.md"];
  for (const text of ["?.md", "\u00e4.md", "[a\u0308].md"]) {
    expect(namedByUs(text, paths)).toEqual(paths);
  }
});
