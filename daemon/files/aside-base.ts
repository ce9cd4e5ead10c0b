import { commonLines, diffLines, hasWord } from "../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../shared/replica/text/text.ts";
import { withoutMark } from "../../shared/replica/text/text-form.ts";
import { type CapturedLine, joinLines, linesOf, splitLines } from "./text-lines.ts";

/** What was saved beside a commit and is not in the file any more. */
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
  /** What the file is an edit of: what git took out of it and put back into it is none. */
  readonly base: CapturedText;
  /** Indices of the known lines that git took. */
  readonly taken: readonly number[];
}

/**
 * Tells what git took out of a file, to keep it elsewhere, from what a person took out. Hunk by
 * hunk: lines that were saved and not committed, and that git keeps, were set aside. Where nothing
 * else of a hunk is gone, the committed lines that stand in their place are git's, too. A line that
 * comes back where none was taken is an addition like any other, whoever put it there.
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

/** A line that is no character of the document's. */
function asNobodys(text: string): CapturedLine {
  return { text, spans: [{ client: null, clock: 0, length: text.length }] };
}
