import { type BlockPair, findMatch, type Match, movedPairs } from "./block-match.ts";
import { type Block, countWords, rankOf, sideRuns, splitBlocks } from "./line-blocks.ts";
import type { MergedLine } from "./merged-lines.ts";

/** A stretch of lines none of which is the base's, inserted by both sides. */
export interface MetPlace {
  readonly lines: readonly MergedLine[];
  /** Lines of the base were deleted here. */
  readonly replaced: boolean;
  /** Lines that one side had inserted were deleted here, too: there may have been a clean-up. */
  readonly cleaned: boolean;
}

/** What stands twice at one place. */
export interface Doubles {
  /** The lines to remove. */
  readonly dropped: ReadonlySet<MergedLine>;
  /** The other side's equal lines, which stay. */
  readonly kept: ReadonlySet<MergedLine>;
  /** Lines to put before one of the kept lines, in order. Now they stand behind it. */
  readonly moved: ReadonlyMap<MergedLine, readonly MergedLine[]>;
}

/** Nothing stands twice. */
export const NONE: Doubles = { dropped: new Set(), kept: new Set(), moved: new Map() };

/**
 * Finds what both sides inserted at one place. Which side is mine makes no difference.
 *
 * The two sides of the place, or else two neighbouring runs of one side each, are doubles where
 * they are equal, or where common lines (longest common subsequence) are half of the lines of the
 * shorter. Only lines with a word count. A code block counts and goes only as a whole, and beside
 * code blocks that stay, more than two thirds must be common. Then what both have goes once.
 *
 * Of two copies the first in the document stays, whatever is around them. Machines that clean up
 * while apart see different surroundings but the same order, so none of them drops the first of any
 * number of copies. What stood before the other copy on its side moves up to before the first one.
 */
export function findDoubles(place: MetPlace): Doubles {
  const doubles = findAll(place);
  const rest = withoutDoubles(place.lines, doubles);
  // A second clean-up must find nothing, for it would take away what one side wrote twice.
  return findAll({ ...place, lines: rest, cleaned: true }).dropped.size === 0 ? doubles : NONE;
}

/** The lines in the order in which they are to stand. */
export function withoutDoubles(
  lines: readonly MergedLine[],
  { dropped, moved }: Doubles,
): MergedLine[] {
  const gone = new Set([...dropped, ...[...moved.values()].flat()]);
  return lines.flatMap((line) => (gone.has(line) ? [] : [...(moved.get(line) ?? []), line]));
}

function findAll({ lines, cleaned }: MetPlace): Doubles {
  const sides = sideRuns(lines);
  // A side that wrote in several steps may have several runs, and a code block may reach over them.
  const match = findMatch(
    splitBlocks(sides.filter((_, i) => i % 2 === 0).flat()),
    splitBlocks(sides.filter((_, i) => i % 2 === 1).flat()),
  );
  if (areDoubles(match, cleaned)) return dropOf(match);
  const runs = sides.map(splitBlocks);
  const found: Doubles[] = [];
  for (let i = 0; i + 1 < runs.length; i++) {
    const neighbours = findMatch(runs[i] as Block[], runs[i + 1] as Block[]);
    if (!areDoubles(neighbours, cleaned)) continue;
    found.push(dropOf(neighbours));
    // A run is used once: what stays of it must not count as a second copy as well.
    i++;
  }
  return joinDoubles(found);
}

function areDoubles({ sides: [one, other], pairs }: Match, cleaned: boolean): boolean {
  const contained = pairs.length === Math.min(one.length, other.length);
  if (contained && pairs.length === Math.max(one.length, other.length)) return pairs.length > 0;
  const common = countWords(pairs.map(([block]) => block));
  const shorter = Math.min(countWords(one), countWords(other));
  // Blank lines alone say little: they may be what a clean-up has left of a longer run.
  if (common === 0) return contained && pairs.length > 0 && !cleaned;
  const fenced = one.some((block) => block.fenced) || other.some((block) => block.fenced);
  return fenced && !contained ? 3 * common > 2 * shorter : 2 * common >= shorter;
}

function dropOf(match: Match): Doubles {
  const pairs = [...match.pairs, ...movedPairs(match)].flatMap(linePairs);
  const kept = new Set(pairs.map(([first]) => first));
  const dropped = new Set(pairs.map(([, second]) => second));
  const moved = new Map<MergedLine, MergedLine[]>();
  for (const { stays, strays } of [...strayRuns(match, 0), ...strayRuns(match, 1)]) {
    const late = strays.filter((block) => rankOf(block) > rankOf(stays));
    const lines = late.flatMap((block) => block.lines).filter((line) => !dropped.has(line));
    if (lines.length > 0) moved.set(stays.lines[0] as MergedLine, lines);
  }
  return { dropped, kept, moved };
}

/** What a side has alone before each pair, and the block of the pair that stays. */
function strayRuns({ sides, pairs }: Match, side: 0 | 1) {
  const blocks = sides[side];
  let from = 0;
  return pairs.map((pair) => {
    const [one, other] = pair;
    const to = blocks.indexOf(pair[side], from);
    const strays = blocks.slice(from, to);
    from = to + 1;
    return { stays: rankOf(one) < rankOf(other) ? one : other, strays };
  });
}

/** The lines of a pair of blocks, of each two the one that is first in the document first. */
function linePairs([one, other]: BlockPair): (readonly [MergedLine, MergedLine])[] {
  return one.lines.map((line, i) => {
    const twin = other.lines[i] as MergedLine;
    return (one.ranks[i] ?? 0) < (other.ranks[i] ?? 0) ? [line, twin] : [twin, line];
  });
}

/** What stands twice at several places. */
export function joinDoubles(doubles: readonly Doubles[]): Doubles {
  return {
    dropped: new Set(doubles.flatMap(({ dropped }) => [...dropped])),
    kept: new Set(doubles.flatMap(({ kept }) => [...kept])),
    moved: new Map(doubles.flatMap(({ moved }) => [...moved])),
  };
}
