import { findCodeBlocks, isFence } from "./code-blocks.ts";
import { commonLines, hasWord } from "./line-diff.ts";
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

/** A line or a code block of one side. */
interface Block {
  readonly key: string;
  readonly lines: readonly MergedLine[];
  /** How many of its lines have a word. */
  readonly words: number;
  readonly fenced: boolean;
  /** Rank in its place. */
  readonly at: number;
}

/** Equal blocks, the first side's first. */
type BlockPair = readonly [Block, Block];

/** The blocks of two sides, and which pairs of them are equal, in the order of both. */
interface Match {
  readonly sides: readonly [readonly Block[], readonly Block[]];
  readonly pairs: readonly BlockPair[];
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

/** The blocks of each run of lines of one side. Neighbouring runs are of different sides. */
function blockRuns(place: readonly MergedLine[]): Block[][] {
  const runs: Block[][] = [];
  let at = 0;
  for (let from = 0, to = 0; from < place.length; from = to) {
    while (place[to] !== undefined && place[to]?.side === place[from]?.side) to++;
    const blocks = splitBlocks(place.slice(from, to), at);
    runs.push(blocks);
    at += blocks.length;
  }
  return runs;
}

function splitBlocks(run: readonly MergedLine[], at: number): Block[] {
  const blocks: Block[] = [];
  const push = (lines: readonly MergedLine[], fenced: boolean) => {
    const texts = lines.map((line) => line.text);
    const words = texts.filter((text) => hasWord(text) && !isFence(text)).length;
    blocks.push({ key: texts.join("\n"), lines, words, fenced, at: at + blocks.length });
  };
  let next = 0;
  for (const [from, to] of findCodeBlocks(run.map((line) => line.text))) {
    for (; next < from; next++) push([run[next] as MergedLine], false);
    push(run.slice(from, to), true);
    next = to;
  }
  for (; next < run.length; next++) push([run[next] as MergedLine], false);
  return blocks;
}

/** Pairs what has words first, so that no blank line costs a line with words its pair. */
function findMatch(one: readonly Block[], other: readonly Block[]): Match {
  const pairs: BlockPair[] = [];
  let [i, j] = [0, 0];
  const pairBlank = (iEnd: number, jEnd: number) => {
    const blank = pairBlocks(one.slice(i, iEnd), other.slice(j, jEnd), (block) => !block.words);
    for (const pair of blank) pairs.push(pair);
  };
  for (const pair of pairBlocks(one, other, (block) => block.words > 0)) {
    const [iEnd, jEnd] = [one.indexOf(pair[0], i), other.indexOf(pair[1], j)];
    pairBlank(iEnd, jEnd);
    pairs.push(pair);
    [i, j] = [iEnd + 1, jEnd + 1];
  }
  pairBlank(one.length, other.length);
  return { sides: [one, other], pairs };
}

/** Longest common subsequence of those that `take` takes. */
function pairBlocks(
  one: readonly Block[],
  other: readonly Block[],
  take: (block: Block) => boolean,
): BlockPair[] {
  const [left, right] = [one.filter(take), other.filter(take)];
  const keyOf = (block: Block) => block.key;
  return commonLines(left.map(keyOf), right.map(keyOf)).map(
    ([i, j]) => [left[i] as Block, right[j] as Block] as const,
  );
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

function countWords(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { words }) => sum + words, 0);
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

/** Equal blocks with words that the two sides have in another order. */
function movedPairs({ sides: [one, other], pairs }: Match): BlockPair[] {
  const paired = new Set(pairs.flat());
  const isLeft = (block: Block) => block.words > 0 && !paired.has(block);
  const left = new Map<string, Block[]>();
  for (const block of one.filter(isLeft)) {
    const equal = left.get(block.key) ?? [];
    equal.push(block);
    left.set(block.key, equal);
  }
  const moved: BlockPair[] = [];
  for (const block of other.filter(isLeft)) {
    const twin = left.get(block.key)?.shift();
    if (twin !== undefined) moved.push([twin, block]);
  }
  return moved;
}

function joinDoubles(doubles: readonly Doubles[]): Doubles {
  return {
    dropped: new Set(doubles.flatMap(({ dropped }) => [...dropped])),
    kept: new Set(doubles.flatMap(({ kept }) => [...kept])),
  };
}

/** Choices for the pairs before a pair, as a list from the last one back. */
interface Path {
  readonly cost: number;
  readonly choice: 0 | 1;
  readonly at: number;
  readonly before: Path | undefined;
}

/**
 * Chooses for each pair which block stays, so that as few lines as possible of those that one side
 * has alone end up on the wrong side of a pair. (The cheapest path over the pairs.)
 */
function leastDisorder({ sides: [one, other], pairs }: Match): number[] {
  let paths: Path[] = [{ cost: 0, choice: 0, at: -1, before: undefined }];
  let [i, j] = [0, 0];
  for (const pair of pairs) {
    const [iEnd, jEnd] = [one.indexOf(pair[0], i), other.indexOf(pair[1], j)];
    const strays = [...one.slice(i, iEnd), ...other.slice(j, jEnd)];
    paths = ([0, 1] as const).map((choice) => cheapest(paths, strays, choice, pair[choice].at));
    [i, j] = [iEnd + 1, jEnd + 1];
  }
  const strays = [...one.slice(i), ...other.slice(j)];
  const choices: number[] = [];
  let path: Path | undefined = cheapest(paths, strays, 0, Number.POSITIVE_INFINITY).before;
  for (; path?.before !== undefined; path = path.before) choices.push(path.choice);
  return choices.reverse();
}

function cheapest(
  paths: readonly Path[],
  strays: readonly Block[],
  choice: 0 | 1,
  at: number,
): Path {
  const extended = paths.map((before) => {
    const wrong = strays.filter((stray) => stray.at < before.at || stray.at > at);
    const disorder = before.at > at ? Number.POSITIVE_INFINITY : weigh(wrong);
    // Half a line's weight: of equal choices the one that keeps to one side.
    const change = before.choice === choice || before.before === undefined ? 0 : 0.5;
    return { cost: before.cost + disorder + change, choice, at, before };
  });
  return extended.reduce((best, path) => (path.cost < best.cost ? path : best));
}

function weigh(blocks: readonly Block[]): number {
  return 2 * countWords(blocks) + blocks.length;
}
