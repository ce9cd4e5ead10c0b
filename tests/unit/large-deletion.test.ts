import { describe, expect, test } from "bun:test";
import { findLargeDeletion } from "../../shared/replica/conflicts/large-deletion.ts";
import { inOneTurn } from "../../shared/steps.ts";

const NOW = 1_750_000_000_000;

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

const TWELVE = Array.from({ length: 12 }, (_, at) => `line ${at + 1}`);

function found(before: string, after: string) {
  return inOneTurn(findLargeDeletion(before, after, { machine: "laptop", at: NOW }));
}

function deleted(before: readonly string[], after: readonly string[]) {
  return found(textOf(before), textOf(after));
}

describe("the notice of a large deletion", () => {
  test("the notice of a large deletion says who deleted how many lines and when, and has the lines", () => {
    const notice = deleted(TWELVE, ["line 1", "line 9", "new"]);
    expect(notice?.lines).toBe(10);
    expect(notice?.versions[1]).toEqual({ text: "", machine: "laptop", at: NOW });
    expect(notice?.versions[0].text.split("\n").slice(0, -1)).toEqual(
      TWELVE.filter((line) => line !== "line 1" && line !== "line 9"),
    );
    expect(notice?.versions[0].places?.map(({ behind }) => behind)).toEqual([
      "line 1\n",
      "line 1\nline 9\n",
    ]);
  });

  test("of very many lines each is looked at a few times", () => {
    const many = Array.from({ length: 120_000 }, (_, at) => `${at}`);
    const notice = deleted(
      many,
      many.filter((_, at) => at % 3 === 0),
    );
    expect(notice?.lines).toBe(80_000);
    expect(notice?.versions[0].places).toHaveLength(40_000);
    expect(notice?.versions[0].places?.at(-1)).toEqual({
      behind: "119991\n119994\n119997\n",
      text: "119998\n119999\n",
      ahead: "",
    });
  });

  test("the notice of a large deletion is given for more than half, and for no less", () => {
    expect(deleted(TWELVE, TWELVE.slice(0, 6))).toBeUndefined();
    expect(deleted(TWELVE, TWELVE.slice(0, 5))?.lines).toBe(7);
    expect(deleted(TWELVE, [])?.lines).toBe(12);
  });

  test("the notice of a large deletion is not given for a text of ten lines or less", () => {
    expect(deleted(TWELVE.slice(0, 10), [])).toBeUndefined();
    expect(deleted([...TWELVE.slice(0, 8), "", ""], [])).toBeUndefined();
  });

  test("the notice of a large deletion is given for a text of over ten lines, blank ones among them", () => {
    expect(deleted([...TWELVE.slice(0, 8), "", "", " "], [])?.lines).toBe(8);
  });

  test("the notice of a large deletion is not given for lines that were moved, nor for other line endings", () => {
    expect(deleted(TWELVE, [...TWELVE].reverse())).toBeUndefined();
    const crlf = textOf(TWELVE).replaceAll("\n", "\r\n");
    expect(found(textOf(TWELVE), crlf)).toBeUndefined();
  });
});
