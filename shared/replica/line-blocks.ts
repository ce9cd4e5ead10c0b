import { findCodeBlocks, isFence } from "./code-blocks.ts";
import { hasWord } from "./line-diff.ts";
import type { MergedLine } from "./merged-lines.ts";

/** A line, or a whole code block, that one side inserted: what stays or goes in one piece. */
export interface Block {
  /** Its text: equal for equal blocks. */
  readonly key: string;
  readonly lines: readonly MergedLine[];
  /** How many of its lines have a word. */
  readonly words: number;
  readonly fenced: boolean;
  /** Rank in its place. */
  readonly at: number;
}

/** The blocks of each run of lines of one side. Neighbouring runs are of different sides. */
export function blockRuns(place: readonly MergedLine[]): Block[][] {
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

/** How many lines with a word the blocks have. */
export function countWords(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { words }) => sum + words, 0);
}
