import { diffSections, type LineHunk } from "./line-diff.ts";

/** Replaces the characters [from, to) of a text. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  /** The insertion goes behind the last character replaced, not before the first. */
  readonly behind?: boolean;
}

/** The change from `before` to `next` as edits of whole lines, in ascending order. */
export function lineEdits(before: string, next: string, diff = diffSections): TextEdit[] {
  const oldLines = before.split("\n");
  const newLines = next.split("\n");
  const terminated = oldLines.at(-1) === "" && newLines.at(-1) === "";
  if (terminated) {
    oldLines.pop();
    newLines.pop();
  }
  const starts = lineStarts(oldLines);
  return diff(oldLines, newLines).map((hunk) => {
    const inserted = newLines.slice(hunk.from, hunk.from + hunk.added);
    const from = starts[hunk.at] as number;
    if (!terminated && hunk.at + hunk.removed === oldLines.length) {
      return endEdit(hunk, Math.min(from, before.length), before.length, inserted.join("\n"));
    }
    const to = starts[hunk.at + hunk.removed] as number;
    return { from, to, insert: inserted.map((line) => `${line}\n`).join("") };
  });
}

function lineStarts(lines: readonly string[]): number[] {
  const starts = [0];
  let start = 0;
  for (const line of lines) {
    start += line.length + 1;
    starts.push(start);
  }
  return starts;
}

/**
 * An edit that reaches a last line without a line break, before or after. The break before that
 * line comes and goes with it: were the line itself replaced when something is appended, what two
 * machines append would be joined.
 */
function endEdit(hunk: LineHunk, from: number, to: number, inserted: string): TextEdit {
  if (hunk.removed === 0) return { from: to, to, insert: `\n${inserted}` };
  if (hunk.added === 0) return { from: from - 1, to, insert: "" };
  return { from, to, insert: inserted, behind: true };
}
