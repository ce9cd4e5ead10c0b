import { findMatch, type Match, movedPairs } from "./block-match.ts";
import { leastDisorder } from "./least-disorder.ts";
import { type Block, blockRuns, countWords } from "./line-blocks.ts";
import type { MergedLine } from "./merged-lines.ts";

/** A stretch of lines none of which is the base's, inserted by both sides. */
export interface Place {
  readonly lines: readonly MergedLine[];
  /** Lines of the base were deleted here. */
  readonly replaced: boolean;
  /** So were lines that one side had inserted: there may have been a clean-up. */
  readonly cleaned: boolean;
}

/** What stands twice at one place. */
export interface Doubles {
  /** The lines to remove. */
  readonly dropped: ReadonlySet<MergedLine>;
  /** The other side's equal lines, which stay. */
  readonly kept: ReadonlySet<MergedLine>;
}

const NONE: Doubles = { dropped: new Set(), kept: new Set() };

/**
 * Finds what both sides inserted at one place. Which side is mine makes no difference.
 *
 * The two sides of the place, or else two neighbouring runs of one side each, are doubles where
 * they are equal, or where common lines (longest common subsequence) are half of the lines of the
 * shorter. Only lines with a word count. A code block counts and goes only as a whole, and beside
 * code blocks that stay, more than two thirds must be common. Then what both have goes once, and
 * of the two copies that one stays which leaves most lines of both sides in their order.
 */
export function findDoubles(place: Place): Doubles {
  for (const doubles of candidates(place)) {
    const rest = place.lines.filter((line) => !doubles.dropped.has(line));
    // A second clean-up must find nothing, for it would take away what one side wrote twice.
    if (candidates({ ...place, lines: rest, cleaned: true }).next().done) return doubles;
  }
  return NONE;
}

/** What could be dropped, best first. */
function* candidates({ lines, cleaned }: Place): Generator<Doubles, void> {
  const runs = blockRuns(lines);
  const match = findMatch(
    runs.filter((_, i) => i % 2 === 0).flat(),
    runs.filter((_, i) => i % 2 === 1).flat(),
  );
  if (areDoubles(match, cleaned)) {
    yield dropOf(match, leastDisorder(match));
    yield dropOf(match, 0);
    yield dropOf(match, 1);
    return;
  }
  const found: Doubles[] = [];
  for (let i = 0; i + 1 < runs.length; i++) {
    const neighbours = findMatch(runs[i] as Block[], runs[i + 1] as Block[]);
    if (!areDoubles(neighbours, cleaned)) continue;
    found.push(dropOf(neighbours, leastDisorder(neighbours)));
    // A run serves once: what stays of it must not stand for a second copy as well.
    i++;
  }
  if (found.length > 0) yield joinDoubles(found);
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

/** `choices`: of each pair, whether the first side's block stays (0) or the second's (1). */
function dropOf(match: Match, choices: readonly number[] | 0 | 1): Doubles {
  const kept: Block[] = [];
  const dropped: Block[] = [];
  for (const [k, [one, other]] of [...match.pairs, ...movedPairs(match)].entries()) {
    const choice = typeof choices === "number" ? choices : (choices[k] ?? 0);
    kept.push(choice === 0 ? one : other);
    dropped.push(choice === 0 ? other : one);
  }
  const linesOf = (blocks: readonly Block[]) => new Set(blocks.flatMap((block) => block.lines));
  return { dropped: linesOf(dropped), kept: linesOf(kept) };
}

function joinDoubles(doubles: readonly Doubles[]): Doubles {
  return {
    dropped: new Set(doubles.flatMap(({ dropped }) => [...dropped])),
    kept: new Set(doubles.flatMap(({ kept }) => [...kept])),
  };
}
