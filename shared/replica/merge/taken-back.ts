import { type IdRanges, intersection } from "../text/id-ranges.ts";
import { hasWord } from "../text/line-diff.ts";
import { type RemovedText, wholeLines } from "../text/removed-text.ts";
import { plainLines } from "../text/text-form.ts";
import type { MergedLine } from "./merged-lines.ts";
import { movedRuns, type WritingSide } from "./moved-lines.ts";

/**
 * For each side the lines, without their breaks, that it wrote and has taken out again before it
 * met the other.
 */
export type TakenBack = Readonly<Record<WritingSide, ReadonlySet<string>>>;

type OfSides<Of> = Readonly<Record<WritingSide, Of>>;

/** What each side inserted and deleted, and what that said. */
interface WrittenBySides {
  readonly written: OfSides<IdRanges>;
  readonly deleted: OfSides<IdRanges>;
  readonly said: OfSides<readonly RemovedText[]>;
}

export function takenBack({ written, deleted, said }: WrittenBySides): TakenBack {
  const ofSide = (by: WritingSide) => {
    return wholeLines(said[by], intersection(written[by], deleted[by]));
  };
  return { mine: ofSide("mine"), theirs: ofSide("theirs") };
}

/** Where lines stand that one side wrote: [first, end) of the merged text's lines. */
interface StandingRun {
  readonly by: WritingSide;
  readonly run: readonly [first: number, end: number];
}

/**
 * The lines of one side that the other had, too, and took out again: both pulled one commit, say,
 * and one of them has deleted its line since. As characters they have nothing to do with each
 * other, so the merge keeps the line, and nothing else would tell. A line that the other side still
 * has is none: it may have put it elsewhere.
 */
export function findOthersTakenBack(
  lines: readonly MergedLine[],
  taken: TakenBack,
  texts: OfSides<string>,
): StandingRun[] {
  return (["mine", "theirs"] as const).flatMap((by) => {
    const other = by === "mine" ? "theirs" : "mine";
    if (taken[other].size === 0) return [];
    const had = plainLines(texts[other]);
    const count = (all: readonly string[], line: string) => all.filter((is) => is === line).length;
    const now = lines.map(({ text }) => text);
    const meant = [...taken[other]].filter((line) => {
      return hasWord(line) && count(now, line) > count(had, line);
    });
    return movedRuns(lines, by, new Set(meant)).map((run) => ({
      by,
      run: withBlanks(lines, by, run),
    }));
  });
}

/** Blank lines of a side go with its lines, where none of its others stand beside them. */
function withBlanks(
  lines: readonly MergedLine[],
  by: WritingSide,
  [first, end]: StandingRun["run"],
): StandingRun["run"] {
  let [from, to] = [first, end];
  const isBlank = (at: number) => lines[at]?.side === by && !hasWord(lines[at].text);
  while (isBlank(from - 1)) from--;
  while (isBlank(to)) to++;
  const isAlone = lines[from - 1]?.side !== by && lines[to]?.side !== by;
  return isAlone ? [from, to] : [first, end];
}
