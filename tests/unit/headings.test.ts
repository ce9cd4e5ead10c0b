import { expect, test } from "bun:test";
import { endsHeading, headingsIn } from "../../shared/replica/text/headings.ts";

const levels = (...lines: readonly string[]) => [...headingsIn(lines)];

test("headings are lines with `#`, and lines with `===` or `---` right below", () => {
  expect(levels("Title", "=====", "", "## Two", "text", "", "Three", "---")).toEqual([
    [0, 1],
    [3, 2],
    [6, 2],
  ]);
});

test("a line right behind another may be one", () => {
  expect(levels("# A", "B", "---", "C", "===", "- item", "D", "---")).toEqual([
    [0, 1],
    [1, 2],
    [3, 1],
    [6, 2],
  ]);
});

for (const [what, lines] of Object.entries({
  "a break": ["text", "", "---", "", "text"],
  "an item of a list": ["- item", "---"],
  "a row of a table": ["| a |", "---"],
  "what is quoted": ["> a", "---"],
  "a line of code": ["```", "a", "---", "# b", "```"],
  "settings at the beginning": ["---", "name: x", "---", "text"],
  "a line of code with its break": ["```\n", "# a\n", "```\n"],
  "one dash": ["a", "-"],
})) {
  test(`${what} is no heading`, () => expect(levels(...lines)).toEqual([]));
}

test("what is between two breaks is not taken for settings", () => {
  expect(levels("---", "", "## A", "", "---")).toEqual([[2, 2]]);
});

test("a heading ends with its underline", () => {
  const lines = ["A", "---", "## B", "text"];
  expect(lines.map((_, at) => endsHeading(lines, at))).toEqual([false, true, true, false]);
});
