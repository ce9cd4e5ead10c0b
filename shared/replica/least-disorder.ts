import type { Match } from "./block-match.ts";
import { type Block, countWords } from "./line-blocks.ts";

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
export function leastDisorder({ sides: [one, other], pairs }: Match): number[] {
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
