import { ITEMS_PER_STEP, inOneTurn, type Steps } from "../../steps.ts";
import { diffSections, diffSectionsInSteps, type LineHunk } from "./line-diff.ts";
import { splitInSteps, withoutEachMark } from "./text-form.ts";

/** Replaces the characters [from, to) of a text. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  /** The new text goes after the last replaced character, and not before the first. */
  readonly behind?: boolean;
  /** Only the line's ending changes: a CR before its break is removed or added. */
  readonly ending?: boolean;
}

/**
 * The difference between `before` and `next` as edits of whole lines, in ascending order. A line
 * with only another ending is the same line: just its ending is edited.
 */
export function lineEdits(before: string, next: string, diff = diffSections): TextEdit[] {
  // biome-ignore lint/correctness/useYield: it has no steps.
  const inOne: typeof diffSectionsInSteps = function* (old, young) {
    return diff(old, young);
  };
  return inOneTurn(lineEditsInSteps(before, next, inOne));
}

/** The same, step by step. */
export function* lineEditsInSteps(
  before: string,
  next: string,
  diff = diffSectionsInSteps,
): Steps<TextEdit[]> {
  const oldLines = yield* splitInSteps(before);
  const newLines = yield* splitInSteps(next);
  const terminated = oldLines.at(-1) === "" && newLines.at(-1) === "";
  if (terminated) {
    oldLines.pop();
    newLines.pop();
  }
  const starts = yield* lineStarts(oldLines);
  const hunkEdit = (hunk: LineHunk): TextEdit => {
    const inserted = newLines.slice(hunk.from, hunk.from + hunk.added);
    const from = starts[hunk.at] as number;
    if (!terminated && hunk.at + hunk.removed === oldLines.length) {
      return endEdit(hunk, Math.min(from, before.length), {
        to: before.length,
        inserted: inserted.join("\n"),
      });
    }
    const to = starts[hunk.at + hunk.removed] as number;
    const insert = inserted.map((line) => `${line}\n`).join("");
    return { from, to, insert, ...(hunk.inPlace && { behind: true }) };
  };
  const edits: TextEdit[] = [];
  let [at, from] = [0, 0];
  const keepUntil = function* (end: number): Steps<void> {
    for (; at < end; at++, from++) {
      const edit = endingEdit(oldLines[at] as string, newLines[from] as string, starts[at] ?? 0);
      if (edit) edits.push(edit);
      if (at % ITEMS_PER_STEP === 0) yield;
    }
  };
  const hunks = yield* diff(yield* withoutEachMark(oldLines), yield* withoutEachMark(newLines));
  for (const hunk of hunks) {
    yield* keepUntil(hunk.at);
    edits.push(hunkEdit(hunk));
    at += hunk.removed;
    from += hunk.added;
  }
  yield* keepUntil(oldLines.length);
  return edits;
}

/** The edit that turns one line into another with the same text. */
function endingEdit(before: string, next: string, start: number): TextEdit | undefined {
  if (before === next) return undefined;
  const end = start + Math.min(before.length, next.length);
  if (before.length > next.length) return { from: end, to: end + 1, insert: "", ending: true };
  return { from: end, to: end, insert: "\r", ending: true };
}

function* lineStarts(lines: readonly string[]): Steps<number[]> {
  const starts = [0];
  let start = 0;
  for (const line of lines) {
    start += line.length + 1;
    starts.push(start);
    if (starts.length % ITEMS_PER_STEP === 0) yield;
  }
  return starts;
}

/**
 * An edit that reaches a last line without a line break, before or after. The break before that
 * line is replaced with it: if the line itself were replaced when something is appended, two
 * machines' appended texts would be joined.
 */
function endEdit(
  hunk: LineHunk,
  from: number,
  { to, inserted }: { readonly to: number; readonly inserted: string },
): TextEdit {
  if (hunk.removed === 0) return { from: to, to, insert: `\n${inserted}` };
  if (hunk.added === 0) return { from: from - 1, to, insert: "" };
  return { from, to, insert: inserted, behind: true };
}
