import { findCodeBlocks, isFence } from "../text/code-blocks.ts";
import { hasWord } from "../text/line-diff.ts";
import type { MergedLine } from "./merged-lines.ts";

/** A line, or a whole code block, that one side inserted: it stays or goes in one piece. */
export interface Block {
  /** Its text: equal for equal blocks. */
  readonly key: string;
  readonly lines: readonly MergedLine[];
  /** How many of its lines have a word. */
  readonly words: number;
  readonly fenced: boolean;
  /** The rank in their place of each of the lines. */
  readonly ranks: readonly number[];
}

/** The rank of its first line. */
export function rankOf({ ranks }: Block): number {
  return ranks[0] ?? 0;
}

/** A line and its rank in its place. */
export type RankedLine = readonly [rank: number, line: MergedLine];

/** Each run of lines of one side. Neighbouring runs are of different sides. */
export function sideRuns(place: readonly MergedLine[]): RankedLine[][] {
  const runs: RankedLine[][] = [];
  for (const ranked of place.entries()) {
    const side = runs.at(-1)?.[0]?.[1].side;
    if (side === ranked[1].side) runs.at(-1)?.push(ranked);
    else runs.push([ranked]);
  }
  return runs;
}

/** The blocks of what one side has here, in its order. */
export function splitBlocks(lines: readonly RankedLine[]): Block[] {
  const blocks: Block[] = [];
  let next = 0;
  for (const [from, to] of findCodeBlocks(lines.map(([, line]) => line.text))) {
    for (; next < from; next++) blocks.push(blockOf(lines.slice(next, next + 1), false));
    blocks.push(blockOf(lines.slice(from, to), true));
    next = to;
  }
  for (; next < lines.length; next++) blocks.push(blockOf(lines.slice(next, next + 1), false));
  return blocks;
}

function blockOf(ranked: readonly RankedLine[], fenced: boolean): Block {
  const lines = ranked.map(([, line]) => line);
  const texts = lines.map((line) => line.text);
  const words = texts.filter((text) => hasWord(text) && !isFence(text)).length;
  return { key: texts.join("\n"), lines, words, fenced, ranks: ranked.map(([rank]) => rank) };
}

/** How many lines with a word the blocks have. */
export function countWords(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { words }) => sum + words, 0);
}
