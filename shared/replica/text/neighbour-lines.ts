import { isFence } from "./code-blocks.ts";
import { hasWord } from "./line-diff.ts";
import { plainLines } from "./text-form.ts";

/** A place is named by at most this many lines. */
const NEIGHBOURS_MAX = 12;

/** Whether a line says something by which it can be known. */
export function isTelling(line: string): boolean {
  return hasWord(line) && !isFence(line.trimEnd());
}

/**
 * Where the lines begin that name the place of `lines[at]`: those directly before it, back to one
 * with a word, and further while the same lines also occur together elsewhere.
 */
export function neighbourStart(lines: readonly string[], at: number): number {
  let from = Math.max(0, lines.slice(0, at).findLastIndex(hasWord));
  while (from > 0 && at - from < NEIGHBOURS_MAX && standsElsewhere(lines, from, at)) from--;
  return from;
}

/**
 * The first line from `to` on with a word: what the lines before it are ahead of. "" if there is
 * none.
 */
export function lineAhead(lines: readonly string[], to: number): string {
  return lines.slice(to).find(hasWord) ?? "";
}

/**
 * Whether two places have the same name: what is before one of them ends with what is before the
 * other, blank lines aside. A longer name is used where a shorter one would fit several places.
 */
export function namesSamePlace(behind: string, other: string): boolean {
  const [one, two] = [behind, other].map((lines) => plainLines(lines).filter(hasWord).reverse());
  if (!one || !two || one.length === 0 || two.length === 0) return one?.length === two?.length;
  const [short, long] = one.length < two.length ? [one, two] : [two, one];
  return short.every((line, at) => line === long[at]);
}

/** Whether the lines [from, to) also occur together elsewhere. */
function standsElsewhere(lines: readonly string[], from: number, to: number): boolean {
  const isThere = (start: number) => {
    for (let i = 0; i < to - from; i++) {
      if (lines[start + i] !== lines[from + i]) return false;
    }
    return true;
  };
  return lines.some((_, start) => start !== from && isThere(start));
}
