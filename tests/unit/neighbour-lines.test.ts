import { expect, test } from "bun:test";
import { placedRuns } from "../../daemon/files/lines/placed-runs.ts";
import {
  GrowingLines,
  lineAhead,
  linesAhead,
  neighbourStart,
} from "../../shared/replica/text/neighbour-lines.ts";
import { inOneTurn } from "../../shared/steps.ts";
import { pick, seededRandom } from "../support/random.ts";

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

/** `MEMSYNC_SEED=1` tries that one; a failure prints its own. */
test("the end of lines that become more is named as that of any, and so is what is ahead", () => {
  const seed = Number(process.env.MEMSYNC_SEED ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  for (let round = 0; round < 100; round++) {
    const words = ["# A", "- x", "", "---", "- y", "- z"].slice(Math.floor(random() * 4));
    const [growing, lines] = [new GrowingLines(), [] as string[]];
    for (let count = 0; count < 60; count++) {
      const from = Math.max(0, Math.min(lines.length - 3, neighbourStart(lines, lines.length)));
      expect({ seed, named: growing.lastNamed(3) }).toEqual({ seed, named: lines.slice(from) });
      const line = pick(random, words);
      growing.push(line);
      lines.push(line);
    }
    const ahead = lines.map((_, at) => lineAhead(lines, at));
    expect(inOneTurn(linesAhead(lines))).toEqual([...ahead, ""]);
  }
});

test("behind very many lines without a word a place is named by some of them", () => {
  const growing = new GrowingLines();
  for (const line of ["# A", ...Array.from({ length: 500 }, () => "---")]) growing.push(line);
  expect(growing.lastNamed(3)).toEqual(Array.from({ length: 12 }, () => "---"));
});

test("lines of a save are placed by the nearest lines that name a place", () => {
  const lines = LINES.map((line) => `${line}\n`);
  expect(placedRuns([6], lines, new Set())).toEqual([
    { behind: "# B\n\n- run\n", text: "- x\n", ahead: "- y\n" },
  ]);
});
