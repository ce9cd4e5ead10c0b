import type * as Y from "yjs";
import { isFence } from "../text/code-blocks.ts";
import { headingsIn } from "../text/headings.ts";
import type { IdRanges } from "../text/id-ranges.ts";
import { hasWord } from "../text/line-diff.ts";
import { type RemovedText, wholeLines } from "../text/removed-text.ts";
import { type MergedLine, readMergedText, type Side } from "./merged-lines.ts";

/** Whose change it is. */
export type WritingSide = "mine" | "theirs";

/** The lines that both sides took from where they stood, and that each put elsewhere. */
export type MovedLines = Readonly<Record<WritingSide, ReadonlySet<string>>>;

const NOTHING_MOVED: MovedLines = { mine: new Set(), theirs: new Set() };

/** What the sides made of lines that both took away, if one put the result elsewhere. */
export interface CarriedOff {
  /** What one side has elsewhere, changed, and the other side deleted. */
  readonly alone: MovedLines;
  /** What both sides have, at least one of them elsewhere, and not alike. */
  readonly apart: MovedLines;
}

/** The lines of both, for each side. */
export function unionOfMoved(one: MovedLines, other: MovedLines = NOTHING_MOVED): MovedLines {
  return {
    mine: new Set([...one.mine, ...other.mine]),
    theirs: new Set([...one.theirs, ...other.theirs]),
  };
}

/** What each side inserted, what both deleted, and the deleted text as far as it is known. */
interface MovingSides {
  readonly mine: IdRanges;
  readonly theirs: IdRanges;
  readonly both: IdRanges;
  readonly removed: readonly RemovedText[];
  /**
   * What one side inserted and is gone again, for example because the other side has cleaned up.
   */
  readonly vanished?: readonly RemovedText[];
}

/**
 * Finds the lines that both sides took away, and that one of them or both put elsewhere. To be
 * called before the clean-up, which removes one copy of what both put at one place. Undefined if
 * there are none.
 */
export function findMovedLines(ytext: Y.Text, sides: MovingSides): MovedLines | undefined {
  const { mine, theirs, removed, both, vanished = [] } = sides;
  const gone = [...wholeLines(removed, both)].filter(hasWord);
  if (gone.length === 0) return undefined;
  const { lines } = readMergedText(ytext, mine, theirs);
  const putBy = (by: WritingSide, also: ReadonlySet<string>) => {
    const put = new Set(lines.filter(({ side }) => side === by).map(({ text }) => text));
    return new Set(gone.filter((line) => put.has(line) || also.has(line)));
  };
  const moved = {
    mine: putBy("mine", wholeLines(vanished, mine)),
    theirs: putBy("theirs", wholeLines(vanished, theirs)),
  };
  return moved.mine.size + moved.theirs.size > 0 ? moved : undefined;
}

/** Lines that one side moved and the other side deleted. */
export function movedByOne({ mine, theirs }: MovedLines = NOTHING_MOVED): MovedLines {
  return {
    mine: new Set([...mine].filter((line) => !theirs.has(line))),
    theirs: new Set([...theirs].filter((line) => !mine.has(line))),
  };
}

/**
 * Lines that the sides put at two places: both moved them, or each wrote them by itself. Of the
 * latter only those count that are not in the base, in a run that the other side wrote as a whole:
 * two sections may well have one line in common.
 */
export function linesTwice(
  lines: readonly MergedLine[],
  moved: MovedLines | undefined,
): MovedLines {
  const standing = (by: Side) =>
    new Set(lines.filter(({ side, text }) => side === by && hasWord(text)).map(({ text }) => text));
  const [byMe, byThem, before] = [standing("mine"), standing("theirs"), standing("base")];
  const isMoved = (line: string) => moved?.mine.has(line) && moved.theirs.has(line);
  const wholes = new Set([
    ...wholeRuns(lines, "mine", byThem),
    ...wholeRuns(lines, "theirs", byMe),
  ]);
  const twice = [...byMe].filter((line) => {
    return byThem.has(line) && (isMoved(line) || (wholes.has(line) && !before.has(line)));
  });
  return { mine: new Set(twice), theirs: new Set(twice) };
}

/** The lines of those runs of one side of which the other side wrote every line. */
function wholeRuns(lines: readonly MergedLine[], by: WritingSide, others: ReadonlySet<string>) {
  const whole: string[] = [];
  for (let first = 0, end = 0; first < lines.length; first = end + 1) {
    end = first;
    while (lines[end]?.side === by) end++;
    const said = lines.slice(first, end).flatMap(({ text }) => (hasWord(text) ? [text] : []));
    if (said.every((line) => others.has(line))) whole.push(...said);
  }
  return whole;
}

/** Up to so many lines between two moved ones count as written into what was moved. */
const WRITTEN_MAX = 3;

/**
 * Where a side put some of these lines: indices [first, end) of the merged text's lines. A run
 * takes in the side's blank lines between two of them, and the few lines that it wrote between
 * them: left out, they would stay there alone.
 */
export function movedRuns(
  lines: readonly MergedLine[],
  by: WritingSide,
  meant: ReadonlySet<string>,
): [number, number][] {
  const runs: [number, number][] = [];
  if (meant.size === 0) return runs;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as MergedLine;
    if (line.side !== by || !meant.has(line.text)) continue;
    const last = runs.at(-1);
    const between = last && lines.slice(last[1], at);
    if (last && between && isWithin(between, by)) last[1] = at + 1;
    else runs.push([at, at + 1]);
  }
  return runs.map(([first, end]) => [first, endOfCode(lines, by, [first, end])]);
}

function isWithin(between: readonly MergedLine[], by: WritingSide): boolean {
  const said = between.filter(({ text }) => hasWord(text));
  const isOne =
    said.length <= WRITTEN_MAX && headingsIn(between.map(({ text }) => text)).size === 0;
  return isOne && between.every(({ side }) => side === by);
}

/** A block of code that begins in a run ends in it: its last line has no word. */
function endOfCode(
  lines: readonly MergedLine[],
  by: WritingSide,
  [first, end]: readonly [number, number],
): number {
  const fences = lines.slice(first, end).filter(({ text }) => isFence(text));
  if (fences.length % 2 === 0) return end;
  let at = end;
  while (lines[at]?.side === by && !hasWord(lines[at]?.text ?? "")) {
    if (isFence(lines[at]?.text ?? "")) return at + 1;
    at++;
  }
  return end;
}
