import { expect, test } from "bun:test";
import { brokenLine, cut, padded, shownColumns, wrapped } from "../../cli/screen/text-width.ts";

const COLUMNS: readonly (readonly [string, number])[] = [
  ["", 0],
  ["plain text", 10],
  ["Übergröße", 9],
  ["e\u0301", 1],
  ["ключ", 4],
  ["日本語の値", 10],
  ["한국어", 6],
  ["Ａ", 2],
  ["🎉", 2],
  ["👩‍👩‍👧", 2],
  ["a…b", 3],
  ["\u200b", 0],
  ["\ufdd0plain\ufdd1 text", 10],
  ["\ufdd2日本\ufdd3", 4],
];

test("a line takes as many columns as a terminal gives it", () => {
  for (const [line, columns] of COLUMNS) {
    expect([line, shownColumns(line)]).toEqual([line, columns]);
    expect([line, shownColumns(padded(line, 12))]).toEqual([line, 12]);
  }
});

test("a line is cut to so many columns, and never within a character", () => {
  expect(cut("plain text", 10)).toBe("plain text");
  expect(cut("plain text", 9)).toBe("plain te…");
  expect(cut("\ufdd0plain\ufdd1 text", 9)).toBe("\ufdd0plain\ufdd1 te…");
  expect(cut("日本語の値", 10)).toBe("日本語の値");
  expect(cut("日本語の値", 6)).toBe("日本…");
  expect(cut("👩‍👩‍👧👩‍👩‍👧", 3)).toBe("👩‍👩‍👧…");
  expect(cut("e\u0301e\u0301e\u0301", 2)).toBe("e\u0301…");
});

test("a line is broken at spaces, and no word of it is lost or cut", () => {
  expect(wrapped("held      short", 20, 4)).toEqual(["held      short"]);
  expect(wrapped("held      a line of words", 20, 4)).toEqual(["held      a line of", "    words"]);
  expect(wrapped("a /long/path/that/fits/nowhere  b", 10, 2)).toEqual([
    "a",
    "  /long/path/that/fits/nowhere",
    "  b",
  ]);
  // An id that fits by itself is not pushed over the margin by the indentation.
  expect(wrapped("here      widget   proj_abcdefgh", 14, 10)).toEqual([
    "here",
    "        widget",
    " proj_abcdefgh",
  ]);
  expect(wrapped("記憶 記憶 記憶", 10, 1)).toEqual(["記憶 記憶", " 記憶"]);
});

test("a line that is too wide is broken behind a slash, or else anywhere", () => {
  expect(brokenLine("  /srv/code", 12, 4)).toEqual(["  /srv/code"]);
  expect(brokenLine("  /srv/code/shop", 12, 4)).toEqual(["  /srv/code/", "    shop"]);
  expect(brokenLine("  proj_abcdefghijklmno", 12, 4)).toEqual([
    "  proj_abcde",
    "    fghijklm",
    "    no",
  ]);
  expect(brokenLine("日本語の値", 5, 9)).toEqual(["日本", "  語", "  の", "  値"]);
});
