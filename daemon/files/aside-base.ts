import { commonLines, diffLines, hasWord } from "../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import { withoutMark } from "../../shared/replica/text/text-form.ts";
import { type CapturedLine, joinLines, linesOf, splitLines } from "./text-lines.ts";

/** What decides whether git has set saved lines aside. */
export interface AsideFacts {
  /** The file as it was read last. */
  readonly known: CapturedText;
  /** The lines that were committed then. */
  readonly committed: readonly string[];
  /** The lines of each text that git keeps in a stash or on another branch. */
  readonly kept: readonly (readonly string[])[];
  /** The file's lines now. */
  readonly lines: string;
}

/** What git has set aside of a save. */
export interface Aside {
  /**
   * The text that the file is an edit of. What git took out or put back is not part of the edit.
   */
  readonly base: CapturedText;
  /** Indices of the known lines that git took. */
  readonly taken: readonly number[];
}

/**
 * Tells lines that git took out of a file, to keep them elsewhere, from lines that a person took
 * out. For each hunk: lines that were saved, not committed, and are kept by git were set aside. If
 * nothing else is missing in the hunk, the committed lines in their place are git's as well. A line
 * that returns where none was taken is an ordinary addition.
 */
export function findAside({ known, committed, kept, lines }: AsideFacts): Aside {
  const before = linesOf(known);
  const shown = before.map(({ text }) => withoutMark(text));
  const after = splitLines(lines);
  const wasCommitted = new Map(commonLines(shown, committed));
  const isKept = new Set(kept.flat());
  const base: CapturedLine[] = [];
  const taken: number[] = [];
  let next = 0;
  for (const { at, removed, from, added } of diffLines(shown, after.map(withoutMark))) {
    const gone = Array.from({ length: removed }, (_, i) => at + i);
    const aside = gone.filter(
      (each) => !wasCommitted.has(each) && isKept.has(shown[each] as string),
    );
    const rest = gone.filter((each) => !aside.includes(each));
    const put = after.slice(from, from + added);
    const isBack = put.every((text) => committed.includes(withoutMark(text)));
    const isAside = aside.length > 0 && rest.every((each) => !hasWord(shown[each] as string));
    base.push(...before.slice(next, at));
    if (isBack && isAside) base.push(...put.map(asNobodys));
    else base.push(...rest.map((each) => before[each] as CapturedLine));
    taken.push(...aside);
    next = at + removed;
  }
  base.push(...before.slice(next));
  return { base: joinLines(base), taken };
}

/** A line that consists of no characters of the document. */
function asNobodys(text: string): CapturedLine {
  return { text, spans: [{ client: null, clock: 0, length: text.length }] };
}
