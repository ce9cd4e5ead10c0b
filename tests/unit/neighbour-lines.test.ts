import { expect, test } from "bun:test";
import { placedRuns } from "../../daemon/files/placed-runs.ts";
import { neighbourStart } from "../../shared/replica/text/neighbour-lines.ts";

const LINES = ["# A", "", "- run", "# B", "", "- run", "- x", "---", "- y"];

test("a place is named by the lines before it, as many as tell it from every other", () => {
  expect(neighbourStart(LINES, 0)).toBe(0);
  expect(neighbourStart(LINES, 7)).toBe(6);
  expect(neighbourStart(LINES, 8)).toBe(6);
  expect(neighbourStart(LINES, 6)).toBe(3);
});

test("of a text that repeats itself no more lines are taken than are of use", () => {
  const repeated = Array.from({ length: 100 }, () => "- run");
  expect(neighbourStart(repeated, 80)).toBe(68);
});

test("lines of a save are placed so", () => {
  const lines = LINES.map((line) => `${line}\n`);
  expect(placedRuns([6], lines, new Set())).toEqual([
    { behind: "# B\n\n- run\n", text: "- x\n", ahead: "- y\n" },
  ]);
});
