import { afterEach, beforeEach, expect, test } from "bun:test";
import { cut, shownColumns } from "../../cli/screen/text-width.ts";
import { coloured, toned } from "../../cli/screen/tones.ts";
import { untoned } from "../support/made-up-status.ts";

const { isTTY } = process.stdout;
const { NO_COLOR, TERM } = process.env;

beforeEach(() => {
  process.stdout.isTTY = true;
  delete process.env.NO_COLOR;
  process.env.TERM = "xterm";
});
afterEach(() => {
  process.stdout.isTTY = isTTY;
  if (NO_COLOR !== undefined) process.env.NO_COLOR = NO_COLOR;
  process.env.TERM = TERM;
});

const LINE = `project   app   ${toned("bad", "not followed: is gone")}, ${toned("good", "fine")}`;

test("a tone takes no column, and nothing is left of it without colours", () => {
  expect(shownColumns(LINE)).toBe(shownColumns(untoned(LINE)));
  expect(untoned(LINE)).toBe("project   app   not followed: is gone, fine");
  process.stdout.isTTY = false;
  expect(coloured([LINE])).toEqual([untoned(LINE)]);
});

test("a tone goes on in the next line, and ends with its words or with all", () => {
  const [first = "", second = ""] = [LINE.slice(0, 26), LINE.slice(26)];
  expect(coloured([first, second])).toEqual([
    "project   app   \u001b[31mnot follo\u001b[39m",
    "\u001b[31mwed: is gone\u001b[39m, \u001b[32mfine\u001b[39m",
  ]);
  const short = cut(`a ${toned("pending", "2 changes waiting")}`, 6);
  expect(coloured([short, "and all"])).toEqual([
    "a \u001b[33m2 c…\u001b[39m",
    "\u001b[33mand all\u001b[39m",
  ]);
  expect(coloured(["another line"])).toEqual(["another line"]);
});
