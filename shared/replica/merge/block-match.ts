import { commonLines } from "../text/line-diff.ts";
import type { Block } from "./line-blocks.ts";

/** Equal blocks, the first side's first. */
export type BlockPair = readonly [Block, Block];

/** The blocks of two sides, and which pairs of them are equal, in the order of both. */
export interface Match {
  readonly sides: readonly [readonly Block[], readonly Block[]];
  readonly pairs: readonly BlockPair[];
}

/**
 * Pairs what has words first, so that no blank line costs a line with words its pair.
 *
 * ```
 * const { pairs } = findMatch(blocksOf(ours), blocksOf(theirs));
 * ```
 */
export function findMatch(one: readonly Block[], other: readonly Block[]): Match {
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

/** The longest common subsequence of the blocks that `take` accepts. */
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

/** Equal blocks with words that the two sides have in another order. */
export function movedPairs({ sides: [one, other], pairs }: Match): BlockPair[] {
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
