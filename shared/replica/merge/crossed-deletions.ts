import { LinesByWord } from "../text/likeness.ts";
import { hasWord } from "../text/line-diff.ts";
import { lineAhead, neighbourStart } from "../text/neighbour-lines.ts";
import { plainLines } from "../text/text-form.ts";
import { findCrossings, type MovedRun } from "./crossings.ts";
import type { WritingSide } from "./moved-lines.ts";
import type { SideLine } from "./side-lines.ts";

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
 * One side changed the order of two neighbours, and the other deleted one of them. A diff takes the
 * smaller one for the moved one (`findCrossings`). If the larger one was deleted, nothing shows
 * that it was moved, and nobody can say which of the two was meant. So all that stood between the
 * old and the new place of what a diff takes for moved is told, where the other side deleted all
 * of it.
 *
 * Lines in `disputed`, the lines of open conflicts, are told already.
 */
export function findCrossedDeletions(
  lines: readonly SideLine[],
  disputed: ReadonlySet<string>,
): CrossedDeletion[] {
  return (["mine", "theirs"] as const).flatMap((mover) => {
    const by = mover === "mine" ? "theirs" : "mine";
    const found = findCrossings(lines, mover).flatMap(
      ({ put, former, between }): CrossedDeletion[] => {
        const text = deletedIn(lines, between, { by, mover });
        const isTold = plainLines(text).every((line) => disputed.has(line) || !hasWord(line));
        return text === "" || isTold ? [] : [{ by, text, ...placeBeside(lines, put, former) }];
      },
    );
    // Two moves over the same lines, or over some of them, are told once.
    return found.filter(({ text }, nth) => {
      const isWithin = (each: CrossedDeletion, at: number) =>
        each.text.includes(text) && (each.text !== text || at < nth);
      return !found.some(isWithin);
    });
  });
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
  { by, mover }: { readonly by: WritingSide; readonly mover: WritingSide },
): string {
  const between = lines.slice(from, to);
  const isDeleted = ({ side, gone }: SideLine) => side === "base" && gone[by];
  const open = between.filter(({ side, gone }) => side !== by && side !== mover && !gone[mover]);
  if (open.some((line) => hasWord(line.text) && !isDeleted(line))) return "";
  const left = open.filter(isDeleted);
  const first = left.findIndex(({ text }) => hasWord(text));
  if (first === -1) return "";
  const isBy = ({ side }: SideLine) => side === by;
  const written = new Set(lines.filter(isBy).map(({ text }) => text));
  const mended = new LinesByWord(between.filter(isBy));
  // What stands elsewhere by the same side was moved by it, and what it mended was not deleted.
  const isMoved = ({ text }: SideLine) => hasWord(text) && written.has(text);
  const gone = left.slice(first).filter((line) => !isMoved(line));
  const isMostlyMoved = saidIn(gone) * 2 <= saidIn(left);
  if (isMostlyMoved || left.some(({ text }) => mended.mostAlike(text).length > 0)) return "";
  return gone.map(broken).join("");
}

/** How many lines have a word. */
function saidIn(lines: readonly SideLine[]): number {
  return lines.filter(({ text }) => hasWord(text)).length;
}

/** Where they stand for the mover: on the other side of what a diff takes for moved. */
function placeBeside(lines: readonly SideLine[], put: MovedRun, former: MovedRun) {
  const isVisible = ({ from, to }: SideLine) => to > from;
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
