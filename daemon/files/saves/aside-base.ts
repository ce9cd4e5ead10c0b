import { diffLines, hasWord } from "../../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";
import { indicesFrom, linesThatStay } from "../lines/line-runs.ts";
import {
  type CapturedLine,
  joinLines,
  linesOf,
  nobodysLine,
  splitLines,
} from "../lines/text-lines.ts";

/** What decides whether git has set saved lines aside. */
export interface AsideFacts {
  /** The file as it was read last. */
  readonly known: CapturedText;
  /** The lines that were committed then. */
  readonly committed: readonly string[];
  /** The texts that git keeps in a stash or on another branch. */
  readonly kept: readonly AsideLines[];
  /** The file's lines now. */
  readonly lines: string;
  /** Where git has discarded what was in the file: what of that others had done. */
  readonly others: OthersChanges | undefined;
}

/** Changes in a file that came from other machines. */
export interface OthersChanges {
  /** Whether they wrote the known line of this index. */
  readonly hasWritten: (at: number) => boolean;
  /** Whether they deleted this committed line. */
  readonly hasDeleted: (line: string) => boolean;
}

/** The lines of a text that git keeps. */
interface AsideLines {
  readonly lines: readonly string[];
  /** Those of the texts that it was made from. */
  readonly before: readonly (readonly string[])[];
}

/** What git has set aside of a save. */
export interface Aside {
  /**
   * The text that the file is an edit of. What git took out or put back is not part of the edit.
   */
  readonly base: CapturedText;
  /** Indices of the known lines that git took. */
  readonly taken: readonly number[];
  /** Indices of the file's lines that git put back, though a save had deleted them. */
  readonly returned: readonly number[];
}

/**
 * Tells what git did to a file, to keep a save elsewhere, from what a person did. For each hunk:
 * lines that were saved, not committed, and are kept by git were set aside. If nothing else is
 * missing in the hunk, the committed lines in their place are git's as well. So are committed lines
 * that the save had deleted, where git keeps a text that was made by deleting them. Any other line
 * that returns is an ordinary addition. What others did counts alike where git keeps nothing:
 * whoever discards what is in a file speaks of the file, and may never have read their lines.
 */
export function findAside(facts: AsideFacts): Aside {
  const { known, committed, lines } = facts;
  const before = linesOf(known);
  const shown = before.map(({ text }) => withoutMark(text));
  const after = splitLines(lines);
  const wasCommitted = linesThatStay(shown, committed);
  const isKept = keptBy(facts, shown);
  const isReturned = deletedElsewhere(facts, { shown, after: after.map(withoutMark) });
  const base: CapturedLine[] = [];
  const taken: number[] = [];
  const returned: number[] = [];
  let next = 0;
  for (const { at, removed, from, added } of diffLines(shown, after.map(withoutMark))) {
    const gone = Array.from({ length: removed }, (_, i) => at + i);
    const isSetAside = (each: number) => isKept(each) || facts.others?.hasWritten(each) === true;
    const kept = gone.filter((each) => !wasCommitted.has(each) && isSetAside(each));
    // Every text that git keeps has blank lines.
    const aside = kept.some((each) => hasWord(shown[each] as string)) ? kept : [];
    const rest = gone.filter((each) => !aside.includes(each));
    const put = after.slice(from, from + added);
    const isBack = put.every((text) => committed.includes(withoutMark(text)));
    const isAside = aside.length > 0 && rest.every((each) => !hasWord(shown[each] as string));
    base.push(...before.slice(next, at));
    if (isBack && isAside) base.push(...put.map(nobodysLine));
    else {
      const back = indicesFrom(from, added).filter(isReturned);
      const isSaid = back.some((each) => hasWord(after[each] as string));
      base.push(...rest.map((each) => before[each] as CapturedLine));
      if (isSaid) base.push(...back.map((each) => nobodysLine(after[each] as string)));
      if (isSaid) returned.push(...back);
    }
    taken.push(...aside);
    next = at + removed;
  }
  base.push(...before.slice(next));
  return { base: joinLines(base), taken, returned };
}

/**
 * Whether git keeps a line that the file had. Each text that git keeps has what was committed: of a
 * line that equals a committed one it has to have that very one.
 */
function keptBy(
  { committed, kept }: AsideFacts,
  shown: readonly string[],
): (at: number) => boolean {
  const texts = new Set(kept.flatMap(({ lines }) => lines));
  const places = kept.map(({ lines }) => linesThatStay(shown, lines));
  return (at) => {
    const line = shown[at] as string;
    return texts.has(line) && (!committed.includes(line) || places.some((each) => each.has(at)));
  };
}

/**
 * Whether a line of the file is a committed one that the save had deleted, and that git keeps as
 * deleted: in a text that lacks it and was made from one that had it; or that others had deleted.
 * Blank lines and the like belong to the lines beside them.
 */
function deletedElsewhere(
  { committed, kept, others }: AsideFacts,
  { shown, after }: { readonly shown: readonly string[]; readonly after: readonly string[] },
): (at: number) => boolean {
  const indicesIn = (lines: readonly string[]) => linesThatStay(committed, lines);
  const saved = indicesIn(shown);
  const deletions = kept.flatMap(({ lines, before }) =>
    before.map((each) => ({ had: indicesIn(each), has: indicesIn(lines) })),
  );
  const committedAt = linesThatStay(after, committed);
  return (at) => {
    const was = committedAt.get(at);
    if (was === undefined) return false;
    // A diff may pair any of several blank lines with one that was saved.
    if (!hasWord(committed[was] as string)) return true;
    if (saved.has(was)) return false;
    if (others?.hasDeleted(committed[was] as string)) return true;
    return deletions.some(({ had, has }) => had.has(was) && !has.has(was));
  };
}
