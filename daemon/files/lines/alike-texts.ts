import { hasWord } from "../../../shared/replica/text/line-diff.ts";
import { splitForm } from "../../../shared/replica/text/text-form.ts";
import { splitLines } from "./text-lines.ts";

/** The part of the longer text that the other must contain; git uses the same for renamed files. */
const ALIKE_MIN = 0.5;

/** Whether one text is an edited form of the other, judged by their lines in any order. */
export function areAlike(one: string, other: string): boolean {
  const [before, after] = [wordedLines(one), wordedLines(other)];
  const common = countCommon(before, after);
  return common > 0 && common >= ALIKE_MIN * Math.max(before.length, after.length);
}

/** Whether two texts share any line with a word. */
export function hasCommonLine(one: string, other: string): boolean {
  return countCommon(wordedLines(one), wordedLines(other)) > 0;
}

function countCommon(before: readonly string[], after: readonly string[]): number {
  const left = new Map<string, number>();
  for (const line of after) left.set(line, (left.get(line) ?? 0) + 1);
  let common = 0;
  for (const line of before) {
    const count = left.get(line) ?? 0;
    if (count === 0) continue;
    left.set(line, count - 1);
    common += 1;
  }
  return common;
}

function wordedLines(text: string): string[] {
  return splitLines(splitForm(text).lines)
    .filter(hasWord)
    .map((line) => line.trim());
}
