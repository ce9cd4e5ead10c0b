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
  expect(readingOf("./CLAUDE.md # mine")).toEqual(["two-readings", "CLAUDE.md"]);
  const both = ["two-readings", "CLAUDE.md", "docs/CLAUDE.md", "AGENTS.md"];
  for (const line of ["CLAUDE.md, AGENTS.md", "CLAUDE.md AGENTS.md"]) {
    expect([line, ...readingOf(line)]).toEqual([line, ...both]);
  }
  // By the letter it names a file that may well be there.
  expect(isIgnoredBy(parseIgnorePatterns("a # b.md"), "a # b.md")).toBe(true);
  expect(readingOf("my notes.md")).toEqual(["plain", "my notes.md"]);
});

test("a line that names nothing of its folder is told, and its last name stays here", () => {
  for (const line of ["~/shop/docs/own.md", "C:\\shop\\own.md", "../shop/own.md"]) {
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
  for (const line of [...lines, ...more]) expect(readingOf(line)[0]).toBe("plain");
});

test("no line takes long, whatever stands in it", () => {
  for (const part of [" ", "[", "a ", "\\", "./", "[:a:]", "#", "'"]) {
    const line = part.repeat(30_000 / part.length);
    for (const each of [line, `${line}a`, `a${line}a`]) readIgnoreLines(each, DIR);
  }
});
