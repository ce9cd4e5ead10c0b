import { expect, test } from "bun:test";
import { count, firstLine } from "../../cli/screen/output.ts";
import { tableLines, tableOfSentences } from "../../cli/screen/table-layout.ts";

const ROWS = [
  ["ID", "WHEN", "WHERE", "VALUE"],
  ["abc", "2026-11-21", "widget", "a value that is rather long, and goes on"],
];

test("a table that fits has all of its columns, and what is last is cut", () => {
  expect(tableLines(ROWS, { width: 50, spare: [1, 2] })).toEqual([
    "ID   WHEN        WHERE   VALUE",
    "abc  2026-11-21  widget  a value that is rather l…",
  ]);
  expect(tableLines(ROWS, { width: Infinity, spare: [1, 2] })[1]).toEndWith("and goes on");
});

test("where a table does not fit, the least needed columns are left out, and no more", () => {
  expect(tableLines(ROWS, { width: 40, spare: [1, 2] })).toEqual([
    "ID   WHERE   VALUE",
    "abc  widget  a value that is rather lon…",
  ]);
  expect(tableLines(ROWS, { width: 30, spare: [1, 2] })).toEqual([
    "ID   VALUE",
    "abc  a value that is rather l…",
  ]);
  // What is needed stays, however narrow it is, and what is last stands below.
  expect(tableLines(ROWS, { width: 20, spare: [] })).toEqual([
    "ID   WHEN      WHERE",
    "  VALUE",
    "abc  2026-11…  widg…",
    "  a value that is r…",
  ]);
});

test("no long name takes the room of the column beside it", () => {
  const rows = [
    ["ID", "WHEN", "WHERE", "WHAT", "WHY"],
    ["k3j5h2ab", "2026-11-21", "a-project-of-a-long-name", "deploy-key", "looks like a password"],
    ["x7c2m4qr", "2026-11-21", "widget", "a-memory-of-a-long-name", "is over a limit"],
  ];
  expect(tableLines(rows, { width: 30, spare: [1] })).toEqual([
    "ID        WHERE      WHAT",
    "  WHY",
    "k3j5h2ab  a-projec…  deploy-k…",
    "  looks like a password",
    "x7c2m4qr  widget     a-memory…",
    "  is over a limit",
  ]);
});

test("what has to be whole goes on below itself, and a word is cut that fits no line", () => {
  const rows = [
    ["REV", "STATE", "CHANGE"],
    ["abc", "current", "saved here, conflict bcdefghi, cdefghij"],
  ];
  expect(tableLines(rows, { width: 32, spare: [1], isLastWhole: true })).toEqual([
    "REV  CHANGE",
    "abc  saved here, conflict",
    "     bcdefghi, cdefghij",
  ]);
  const paths = [["abc", "/a/path/that/has/no/space/and/is/long"]];
  expect(tableLines(paths, { width: 20, spare: [], isLastWhole: true })).toEqual([
    "abc  /a/path/that/h…",
  ]);
});

test("a sentence at the end of a row goes on below itself", () => {
  const rows = [
    ["holds", "GET /v1/memories", "401 without a token"],
    ["FAILS", "", "no"],
  ];
  expect(tableOfSentences(rows, 36)).toEqual([
    "holds  GET /v1/memories  401 without",
    "                         a token",
    "FAILS                    no",
  ]);
});

test("a short last column takes no more room than it needs", () => {
  const rows = [
    ["a".repeat(20), "b".repeat(10), "c"],
    ["a", "b", "cc"],
  ];
  expect(tableLines(rows, { width: 36, spare: [1] })[0]).toBe(rows[0]?.join("  ") ?? "");
});

test("a row shows the first line of a text that is not blank", () => {
  for (const [text, shown] of [
    ["one", "one"],
    ["one\ntwo", "one …"],
    ["\n\n  one\ntwo", "  one …"],
    ["\r\n \r\none", "one"],
    ["", ""],
    ["   ", "   "],
  ] as const) {
    expect([text, firstLine(text)]).toEqual([text, shown]);
  }
});

test("one is one, and all else are several", () => {
  expect([0, 1, 2].map((number) => count(number, "memory", "memories"))).toEqual([
    "0 memories",
    "1 memory",
    "2 memories",
  ]);
});
