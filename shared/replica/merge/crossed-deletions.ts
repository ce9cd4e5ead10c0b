import { comparedWords, LinesByWord } from "../text/likeness.ts";
import { hasWord } from "../text/line-diff.ts";
import { lineAhead, neighbourStart } from "../text/neighbour-lines.ts";
import { plainLines } from "../text/text-form.ts";
import { type Crossing, findCrossings } from "./crossings.ts";
import type { WritingSide } from "./moved-lines.ts";
import { SideHeadings } from "./side-headings.ts";
import { hunksOf, type SideHunk } from "./side-hunks.ts";
import { isOfSide, type SideLine } from "./side-lines.ts";

/** Lines that one side deleted, and that the other perhaps moved. */
export interface CrossedDeletion {
  /** Who deleted them. */
  readonly by: WritingSide;
  /** Whole lines, with the blank ones among and behind them. */
  readonly text: string;
  /** Where they would stand as the other side had them; see `PlacedLines`. */
  readonly behind: string;
  readonly ahead: string;
}

/**
 * One side swapped two neighbours, and the other deleted one of them. A diff takes the smaller
 * neighbour for the moved one (`findCrossings`). If the larger one was deleted, nothing shows that
 * it was moved, and nobody can say which of the two was meant. So everything between the old and
 * the new place of the supposedly moved lines is told, if the other side deleted all of it. The
 * same holds for a section that is deleted, and into which the other side moved a line. Lines in
 * `disputed`, the lines of open conflicts, are told already.
 */
export function findCrossedDeletions(
  lines: readonly SideLine[],
  disputed: ReadonlySet<string>,
): CrossedDeletion[] {
  const headings = new SideHeadings(lines);
  return (["mine", "theirs"] as const).flatMap((mover) => {
    const by: WritingSide = mover === "mine" ? "theirs" : "mine";
    const isOpen = ({ text }: CrossedDeletion) =>
      text !== "" && plainLines(text).some((line) => !disputed.has(line) && hasWord(line));
    const found = findCrossings(lines, mover).flatMap((crossing) => {
      const sides = { by, mover, headings };
      const passed = deletedIn(lines, crossing.between, sides);
      const into = deletedAround(lines, crossing, sides);
      const place = placeBeside(lines, crossing);
      return [{ by, text: passed, ...place }, into].filter(isOpen);
    });
    // Two moves over the same lines, or over some of them, are told once.
    return found.filter(({ text }, nth) => {
      const isWithin = (each: CrossedDeletion, at: number) =>
        each.text.includes(text) && (each.text !== text || at < nth);
      return !found.some(isWithin);
    });
  });
}

/** The side that deleted, and the side that moved. */
interface Sides {
  readonly by: WritingSide;
  readonly mover: WritingSide;
  readonly headings: SideHeadings;
}

/**
 * What the other side deleted of [from, to): all that says something there and was not taken or put
 * there by the mover. It may have kept less than half of that elsewhere; "" if that is not so. What
 * the other side wrote there besides stands, and may be there because somebody has kept it beside
 * the deletion.
 */
function deletedIn(
  lines: readonly SideLine[],
  [from, to]: readonly number[],
  { by, mover, headings }: Sides,
): string {
  const between = lines.slice(from, to);
  const isDeleted = ({ side, gone }: SideLine) => side === "base" && gone[by];
  const open = between.filter(({ side, gone }) => side !== by && side !== mover && !gone[mover]);
  if (open.some((line) => hasWord(line.text) && !isDeleted(line))) return "";
  const left = open.filter(isDeleted);
  const first = left.findIndex(({ text }) => hasWord(text));
  if (first === -1) return "";
  const gone = left.slice(first);
  const put = between.filter(({ side }) => side === by);
  const isKept = isRenamed(lines, gone, { by, headings }) || isMended(gone, put);
  return isKept ? "" : unmoved(lines, gone, by);
}

/** What a side deleted of lines, and has not mostly elsewhere; "" for nothing. */
function unmoved(lines: readonly SideLine[], left: readonly SideLine[], by: WritingSide): string {
  const written = new Set(lines.filter(({ side }) => side === by).map(({ text }) => text));
  // A line that the same side wrote elsewhere was moved by it.
  const isMoved = ({ text }: SideLine) => hasWord(text) && written.has(text);
  const gone = left.filter((line) => !isMoved(line));
  const isMostlyMoved = saidIn(gone) * 2 <= saidIn(left);
  return isMostlyMoved ? "" : gone.map(broken).join("");
}

/** Whether a side put there what it made of the lines that it took away: then it deleted none. */
function isMended(left: readonly SideLine[], put: readonly SideLine[]): boolean {
  const mended = new LinesByWord(put);
  return left.some(({ text }) => mended.mostAlike(text).length > 0);
}

/** How many lines have a word. */
function saidIn(lines: readonly SideLine[]): number {
  return lines.filter(({ text }) => hasWord(text)).length;
}

/**
 * The section that the other side deleted, and into which the mover put lines; its text is "" where
 * that is not so.
 */
function deletedAround(
  lines: readonly SideLine[],
  { put: { first, end }, former }: Crossing,
  { by, mover, headings }: Sides,
): CrossedDeletion {
  const isDeleted = (line: SideLine) => line.side === "base" && line.gone[by] && !line.gone[mover];
  const isPassed = (at: number) => {
    const line = lines[at];
    if (!line || !hasWord(line.text)) return line !== undefined;
    return line.side === mover || !isOfSide(line, mover) || isDeleted(line);
  };
  // A heading that the other side wrote there did not exist for the mover.
  const isHeading = (at: number) => {
    const line = lines[at];
    return line && headings.level(at) !== undefined && isOfSide(line, mover);
  };
  let [from, to] = [first, end];
  while (from > 0 && !isHeading(from) && isPassed(from - 1)) from--;
  while (isPassed(to) && !isHeading(to)) to++;
  const heading = lines[from];
  const isOne = heading && isDeleted(heading) && isHeading(from);
  const isWhole = to === lines.length || isHeading(to);
  const left = lines.slice(from, to).filter(isDeleted);
  // What was mended where it stood, or moved within the section, was not moved into it.
  const isInto = former.end <= from || to <= former.first;
  const put = lines.slice(from, to).filter(({ side }) => side === by);
  const isAll = isOne && isWhole && isInto;
  // A section without lines has nothing to be recognised by but its name.
  const isName = left.every((line) => headings.all.has(line) || !hasWord(line.text));
  const isKept = isAll && (isName ? hasSameNames(lines, left, by) : isMended(left, put));
  const isGone = isAll && !isKept;
  const text = isGone ? unmoved(lines, left, by) : "";
  const isVisible = (line: SideLine) => line.to > line.from && line.side !== mover;
  const before = lines.slice(0, from).filter(isVisible).map(broken);
  const behind = before.slice(neighbourStart(before, before.length)).join("");
  return { by, text, behind, ahead: lineAhead(lines.slice(to).filter(isVisible).map(broken), 0) };
}

/**
 * Whether a side put names of the same words in the place of names. One with a word in common may
 * say the opposite.
 */
function hasSameNames(
  lines: readonly SideLine[],
  names: readonly SideLine[],
  by: WritingSide,
): boolean {
  const wordsOf = ({ text }: SideLine) => comparedWords(text).join(" ");
  const hunks = hunksOf(lines, by);
  return names
    .filter(({ text }) => hasWord(text))
    .every((name) => {
      const put = hunks.flatMap(({ removed, added }) => (removed.includes(name) ? added : []));
      return put.some((line) => wordsOf(line) === wordsOf(name));
    });
}

/** Whether lines are names alone, and a side put others in the place of all that it took there. */
function isRenamed(
  lines: readonly SideLine[],
  left: readonly SideLine[],
  { by, headings: { all } }: Pick<Sides, "by" | "headings">,
): boolean {
  const names = left.filter(({ text }) => hasWord(text));
  if (names.some((line) => !all.has(line))) return false;
  const isOf = ({ removed }: SideHunk) => names.every((line) => removed.includes(line));
  const hunk = hunksOf(lines, by).find(isOf);
  const count = (of: readonly SideLine[] = []) => of.filter((line) => all.has(line)).length;
  return hunk !== undefined && count(hunk.added) >= count(hunk.removed);
}

/**
 * Where they stand for the mover: on the other side of what a diff takes for moved. `own`: lines
 * that name no place.
 */
export function placeBeside(
  lines: readonly SideLine[],
  { put, former }: Pick<Crossing, "put" | "former">,
  own: ReadonlySet<SideLine> = new Set(),
): Pick<CrossedDeletion, "behind" | "ahead"> {
  const isVisible = (line: SideLine) => line.to > line.from && !own.has(line);
  const until = former.end <= put.first ? put.first : endOfBlanks(lines, put.end);
  const before = lines.slice(0, until).filter(isVisible).map(broken);
  const after = lines.slice(until).filter(isVisible).map(broken);
  const behind = before.slice(neighbourStart(before, before.length)).join("");
  return { behind, ahead: lineAhead(after, 0) };
}

function endOfBlanks(lines: readonly SideLine[], end: number): number {
  const next = lines.findIndex(({ text, from, to }, at) => at >= end && to > from && hasWord(text));
  return next === -1 ? lines.length : next;
}

function broken({ text }: SideLine): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
