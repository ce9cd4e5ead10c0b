import { diffLines, hasWord } from "../../../shared/replica/text/line-diff.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { indicesFrom, linesThatStay } from "./line-runs.ts";

/** What of a save's changes is again as it was committed. */
export interface UndoneChanges {
  readonly then: readonly string[];
  readonly before: readonly string[];
  /** The lines that the save had added, by their index in `before`. */
  readonly added: readonly number[];
  readonly isAnyGone: boolean;
  /** The lines that were deleted and are there again, by their index in `then`. */
  readonly back: readonly number[];
  /** Nothing is left of the changes. */
  readonly isWhole: boolean;
  /** Nothing is new: each place is as it was committed, or as it was saved. */
  readonly isMixed: boolean;
}

/** Asks by place: an equal line elsewhere in the file says nothing of one. */
export function undoneChanges(committed: string, saved: string, now: string): UndoneChanges {
  const [then, before, after] = [plainLines(committed), plainLines(saved), plainLines(now)];
  const [savedAt, nowAt] = [linesThatStay(then, before), linesThatStay(then, after)];
  const [wasCommitted, isCommittedNow] = [new Set(savedAt.values()), new Set(nowAt.values())];
  const hunks = diffLines(before, after);
  const taken = new Set(hunks.flatMap(({ at, removed }) => indicesFrom(at, removed)));
  const put = hunks.flatMap(({ from, added: count }) => indicesFrom(from, count));
  // A line that somebody moves to where it is new is not gone.
  const elsewhere = new Set(put.flatMap((at) => (isCommittedNow.has(at) ? [] : [after[at]])));
  const added = said(before).filter((at) => !wasCommitted.has(at));
  const deleted = said(then).filter((at) => !savedAt.has(at));
  const isGone = (at: number) => taken.has(at) && !elsewhere.has(before[at]);
  const back = deleted.filter((at) => nowAt.has(at));
  const isMixed =
    said(before).every((at) => !taken.has(at) || !wasCommitted.has(at)) &&
    put.every((at) => !hasWord(after[at] ?? "") || isCommittedNow.has(at));
  const isWhole = added.every(isGone) && back.length === deleted.length;
  return { then, before, added, isAnyGone: added.some(isGone), back, isWhole, isMixed };
}

/** The indices of the lines that have a word. */
function said(lines: readonly string[]): number[] {
  return lines.flatMap((line, at) => (hasWord(line) ? [at] : []));
}
