import { hasWord } from "../text/line-diff.ts";
import type { MergedLine } from "./merged-lines.ts";
import { movedRuns, type WritingSide } from "./moved-lines.ts";

/**
 * For each side, the lines that it took from where they stood. Where the side wrote such a line
 * again, it has moved it.
 */
export type TakenLines = Readonly<Record<WritingSide, ReadonlySet<string>>>;

/** Where in the visible text what each side deleted would stand. */
export type DeletedBy = Readonly<Record<WritingSide, ReadonlySet<number>>>;

/** Lines that one side moved away from beside those that the other moved there. */
export interface CrossedMove {
  /** Whose move of the lines stands. */
  readonly by: WritingSide;
  /** Where they stand. */
  readonly standing: readonly [first: number, end: number];
  /** The line before which the other side had them, beside the lines that it moved itself. */
  readonly beside: number;
}

/**
 * Finds moves that the merge has undone: one side moved lines over a section that the other side
 * moved as well, so now they stand on the same side of it as before. A diff takes the smaller part
 * for the moved one, so one of the two moves would leave no trace. If the other side moved several
 * sections, nobody can say which one is meant, and nothing is found.
 */
export function findCrossedMoves(
  lines: readonly MergedLine[],
  taken: TakenLines,
  deleted: DeletedBy,
): CrossedMove[] {
  const [mine, theirs] = [movedBy(lines, "mine", taken), movedBy(lines, "theirs", taken)];
  return [
    ...crossings(lines, { by: "theirs", runs: theirs, others: mine }, deleted),
    ...crossings(lines, { by: "mine", runs: mine, others: theirs }, deleted),
  ];
}

type Run = readonly [first: number, end: number];

function movedBy(lines: readonly MergedLine[], by: WritingSide, taken: TakenLines): Run[] {
  const moved = [...taken[by]].filter((line) => hasWord(line));
  return movedRuns(lines, by, new Set(moved));
}

function crossings(
  lines: readonly MergedLine[],
  { by, runs, others }: { by: WritingSide; runs: readonly Run[]; others: readonly Run[] },
  deleted: DeletedBy,
): CrossedMove[] {
  const [standing, ...more] = runs;
  if (!standing || more.length > 0) return [];
  return others.flatMap(([first, end]) => {
    if (isBeside(lines, standing, [first, end])) return [];
    const [from, to] = [lines[first]?.from ?? 0, lines[end - 1]?.to ?? 0];
    const isOver = (at: number) => deleted.mine.has(at) && deleted.theirs.has(at);
    if (isOver(from)) return [{ by, standing, beside: first }];
    return isOver(to) ? [{ by, standing, beside: end }] : [];
  });
}

/** Whether no word stands between two runs: then neither was moved over the other. */
function isBeside(lines: readonly MergedLine[], one: Run, other: Run): boolean {
  const [end, first] = one[0] < other[0] ? [one[1], other[0]] : [other[1], one[0]];
  return lines.slice(end, first).every(({ text }) => !hasWord(text));
}
