import { expect, test } from "bun:test";
import {
  inOneLine,
  visible,
  visibleJson,
  visibleLines,
  visibleStyled,
} from "../../cli/screen/visible.ts";

const BOLD = "\u001b[1mname\u001b[22m";

test("what a terminal would obey is written out", () => {
  expect(visible("a\nb\rc\td\u001b[2J\u0000\u007f\u009b")).toBe(
    "a\\nb\\rc d\\x1b[2J\\x00\\x7f\\x9b",
  );
  expect(visible("a\u202etxt.\u2066b\u2028c")).toBe("a\\u202etxt.\\u2066b\\u2028c");
  expect(visible("größer 日本 👩‍💻 שלום")).toBe("größer 日本 👩‍💻 שלום");
});

test("a program gets a line as it was written, but for its breaks", () => {
  expect(inOneLine("a\nb\rc\td\u001b[2J\u202e\u009b")).toBe("a\\nb\\rc\td\u001b[2J\u202e\u009b");
});

test("in lines, breaks and tabs stay", () => {
  expect(visibleLines("\ta\n\u001b[8mb\r\n")).toBe("\ta\n\\x1b[8mb\\r\n");
});

test("of a line with styles, these stay where they are wanted, and nothing else", () => {
  expect(visibleStyled(`${BOLD}\t\u001b[2J\u001b[8m\n`, true)).toBe(`${BOLD}\t\\x1b[2J\\x1b[8m\\n`);
  expect(visibleStyled(BOLD, false)).toBe("\\x1b[1mname\\x1b[22m");
});

test("JSON stays equal", () => {
  const value = { name: "a\n\t\u001b\u009b\u007f\u202e\u2028b" };
  const shown = visibleJson(JSON.stringify(value, null, 2));
  expect(JSON.parse(shown)).toEqual(value);
  expect(shown).not.toMatch(/[^\P{Cc}\n]|\u202e|\u2028/u);
});
