import { expect, test } from "bun:test";
import { isIgnoredBy, parseIgnorePatterns } from "../../daemon/ignored/gitignore.ts";
import { readIgnoreLines } from "../../daemon/ignored/ignore-lines.ts";

const DIR = "/srv/shop";
const PATHS = ["CLAUDE.md", "docs/CLAUDE.md", "docs/own.md", "AGENTS.md", "my notes.md"];

/** What a line keeps, and what its author is told. */
function readingOf(line: string) {
  const patterns = parseIgnorePatterns(`${line}\n`, DIR);
  const [first] = readIgnoreLines(line, DIR);
  return [first?.odd ?? "plain", ...PATHS.filter((path) => isIgnoredBy(patterns, path))];
}

test("a line that can mean but one thing keeps that, as if it were written as git writes it", () => {
  const root = ["plain", "CLAUDE.md"];
  for (const line of ["./CLAUDE.md", "/./CLAUDE.md", ".\\CLAUDE.md", "//CLAUDE.md"]) {
    expect([line, ...readingOf(line)]).toEqual([line, ...root]);
  }
  for (const line of ["docs\\own.md", "docs//own.md", "./docs/own.md  ", `${DIR}/docs/own.md`]) {
    expect([line, ...readingOf(line)]).toEqual([line, "plain", "docs/own.md"]);
  }
  for (const line of [".", "./", "/", DIR, `${DIR}/`]) {
    expect([line, ...readingOf(line)]).toEqual([line, "plain", ...PATHS]);
  }
  expect(readIgnoreLines("CLAUDE.md\rAGENTS.md").map(({ number }) => number)).toEqual([1, 2]);
  const docs = ["plain", "docs/CLAUDE.md", "docs/own.md"];
  for (const line of ["./docs/", "docs/.", ".\\docs\\", "docs/\t", "\uFEFFdocs\u00a0"]) {
    expect([line, ...readingOf(line)]).toEqual([line, ...docs]);
  }
});

test("a line with two readings keeps what either names, and is told", () => {
  const either = ["two-readings", "CLAUDE.md", "docs/CLAUDE.md"];
  for (const line of ["CLAUDE.md # mine", " CLAUDE.md", '"CLAUDE.md"', "'CLAUDE.md'  # x"]) {
    expect([line, ...readingOf(line)]).toEqual([line, ...either]);
  }
  expect(readingOf("CLAUDE.md/")).toEqual(either);
  expect(readingOf("docs/own.md # and AGENTS.md, mine")).toEqual([
    "two-readings",
    "docs/own.md",
    "AGENTS.md",
  ]);
  expect(readingOf("./CLAUDE.md # mine")).toEqual(["two-readings", "CLAUDE.md"]);
  const both = ["two-readings", "CLAUDE.md", "docs/CLAUDE.md", "AGENTS.md"];
  const lists = ["CLAUDE.md, AGENTS.md", "CLAUDE.md AGENTS.md", "CLAUDE.md | AGENTS.md"];
  const quoted = [
    '"CLAUDE.md", "AGENTS.md"',
    "'CLAUDE.md' 'AGENTS.md'",
    "`CLAUDE.md`; `AGENTS.md`",
  ];
  for (const line of [...lists, ...quoted, "{CLAUDE,AGENTS}.md", "- {CLAUDE,AGENTS}.md # x"]) {
    expect([line, ...readingOf(line)]).toEqual([line, ...both]);
  }
  const remarks = ["CLAUDE.md (mine)", "CLAUDE.md: mine", "CLAUDE.md // mine", "CLAUDE.md -- mine"];
  const marked = [" * CLAUDE.md", "- CLAUDE.md", "CLAUDE.md,", '"CLAUDE.md', "CLAUDE.md\u200b"];
  for (const line of [...remarks, ...marked, '"CLAUDE.md",', "CLAUDE.md/*"]) {
    expect([line, ...readingOf(line)]).toEqual([line, ...either]);
  }
  // A folder in a list has no sign of its own.
  const withFolder = ["two-readings", "docs/CLAUDE.md", "docs/own.md", "AGENTS.md"];
  for (const line of [
    "AGENTS.md, docs",
    '"docs", "AGENTS.md"',
    "AGENTS.md | docs",
    "{AGENTS.md,docs}",
  ]) {
    expect([line, ...readingOf(line)]).toEqual([line, ...withFolder]);
  }
  for (const line of ["my notes.md, own.md", '"own.md", "my notes.md"', "my notes.md | own.md"]) {
    expect([line, ...readingOf(line)]).toEqual([
      line,
      "two-readings",
      "docs/own.md",
      "my notes.md",
    ]);
  }
  // By the letter it names a file that may well be there.
  expect(isIgnoredBy(parseIgnorePatterns("a # b.md"), "a # b.md")).toBe(true);
  expect(readingOf("my notes.md")).toEqual(["plain", "my notes.md"]);
});

test("a line that is no path from its folder is told, and its last name stays here", () => {
  const fromHome = ["~/shop/docs/own.md", "$HOME/own.md", "%USERPROFILE%\\own.md"];
  const absolute = ["C:\\shop\\own.md", "/srv/link-to-shop/own.md", "/root/.claude/own.md"];
  for (const line of [...fromHome, ...absolute, "../shop/own.md"]) {
    expect([line, ...readingOf(line)]).toEqual([line, "no-name", "docs/own.md"]);
  }
  for (const line of ["..", "../*", "[CLAUDE.md", "docs/[a-"]) {
    expect([line, ...readingOf(line)]).toEqual([line, "no-name"]);
  }
});

test("in doubt no line lets out what another one keeps", () => {
  for (const line of ["!./docs/own.md", "!docs/own.md # open", "! docs/own.md", "!docs\\own.md"]) {
    const patterns = parseIgnorePatterns(`docs/*\n${line}\n`, DIR);
    expect([line, isIgnoredBy(patterns, "docs/own.md")]).toEqual([line, true]);
    expect(readIgnoreLines(`docs/*\n${line}`, DIR)[1]).toMatchObject({ number: 2, odd: "no-name" });
  }
  const open = parseIgnorePatterns("docs/* # mine\n!docs/own.md\n", DIR);
  expect(PATHS.filter((path) => isIgnoredBy(open, path))).toEqual(["docs/CLAUDE.md"]);
});

test("what git reads as it was meant is told nobody", () => {
  const lines = ["", "   ", "# x", "  # x", "*.md", "[]a].md", "[[:digit:]].md", "\\#a", "a\\ "];
  const more = ["docs/**/own.md", "**", "~backup.md", "*~", "\\[a", "!docs/own.md", "a b.md", ".x"];
  const odd = ["a (b).md", "a:b", "tmp/", "/var/own.md", "a--b.md", "c++/"];
  for (const line of [...lines, ...more, ...odd]) expect(readingOf(line)[0]).toBe("plain");
});

test("no line takes long, whatever stands in it", () => {
  for (const part of [" ", "[", "a ", "\\", "./", "[:a:]", "#", "'"]) {
    const line = part.repeat(30_000 / part.length);
    for (const each of [line, `${line}a`, `a${line}a`]) readIgnoreLines(each, DIR);
  }
});

test("on a Mac a folder in /tmp is the one in /private/tmp, whichever of them a line has", () => {
  for (const [dir, line] of [
    ["/private/tmp/shop", "/tmp/shop/docs/own.md"],
    ["/tmp/shop", "/private/tmp/shop/docs/own.md"],
    ["/private/var/shop", "/var/shop/docs/own.md"],
  ] as const) {
    const patterns = parseIgnorePatterns(`${line}\n`, dir);
    expect(PATHS.filter((path) => isIgnoredBy(patterns, path))).toEqual(["docs/own.md"]);
    expect(readIgnoreLines(line, dir)[0]?.odd).toBeUndefined();
  }
});
