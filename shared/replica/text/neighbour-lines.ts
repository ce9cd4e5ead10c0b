import { hasWord } from "./line-diff.ts";

/** No place is looked for by more lines than these. */
const NEIGHBOURS_MAX = 12;

/**
 * Where the lines begin that name the place of `lines[at]`: those directly before it, back to one
 * that has a word, and further back while the same lines stand together elsewhere, too.
 */
export function neighbourStart(lines: readonly string[], at: number): number {
  let from = Math.max(0, lines.slice(0, at).findLastIndex(hasWord));
  while (from > 0 && at - from < NEIGHBOURS_MAX && standsElsewhere(lines, from, at)) from--;
  return from;
}

/**
 * The first line from `to` on that has a word: what the lines before it stood ahead of. "" where
 * nothing more is said.
 */
export function lineAhead(lines: readonly string[], to: number): string {
  return lines.slice(to).find(hasWord) ?? "";
}

/** Whether the lines [from, to) stand together at another place as well. */
function standsElsewhere(lines: readonly string[], from: number, to: number): boolean {
  const isThere = (start: number) => {
    for (let i = 0; i < to - from; i++) {
      if (lines[start + i] !== lines[from + i]) return false;
    }
    return true;
  };
  return lines.some((_, start) => start !== from && isThere(start));
}
