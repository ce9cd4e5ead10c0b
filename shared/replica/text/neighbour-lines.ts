import { ITEMS_PER_STEP, type Steps } from "../../steps.ts";
import { isFence } from "./code-blocks.ts";
import { hasWord } from "./line-diff.ts";
import { plainLines } from "./text-form.ts";

/** A place is named by at most this many lines. */
const NEIGHBOURS_MAX = 12;

/** Whether a line says something by which it can be known. */
export function isTelling(line: string): boolean {
  return hasWord(line) && !isFence(line);
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
 * The first line from `to` on that says something, including its break; "" if there is none. It
 * names the place from below.
 */
export function lineAhead(lines: readonly string[], to: number): string {
  return lines.slice(to).find(isTelling) ?? "";
}

/** If so many lines without a word are before a place, the last of them name it. */
const UNSAID_MAX = 64;

/**
 * Lines that are added one by one: gives `neighbourStart` of their end, quickly however many there
 * are.
 */
export class GrowingLines {
  readonly #lines: string[] = [];
  /** Where each line stands. */
  readonly #places = new Map<string, number[]>();
  #lastSaid = 0;

  push(line: string): void {
    const at = this.#lines.push(line) - 1;
    const places = this.#places.get(line);
    if (places) places.push(at);
    else this.#places.set(line, [at]);
    if (hasWord(line)) this.#lastSaid = at;
  }

  /**
   * The lines that name the end, at least `count`: the last ones, back to one with a word, and
   * further while the same lines also occur together elsewhere.
   */
  lastNamed(count: number): readonly string[] {
    const { length } = this.#lines;
    let from = this.#lastSaid;
    while (from > 0 && length - from < NEIGHBOURS_MAX && this.#standElsewhere(from)) from--;
    if (length - from > UNSAID_MAX) from = length - NEIGHBOURS_MAX;
    return this.#lines.slice(Math.max(0, Math.min(length - count, from)));
  }

  /** Whether the lines from `from` on also occur together elsewhere. */
  #standElsewhere(from: number): boolean {
    const last = this.#lines.slice(from);
    const placesOf = (line: string) => this.#places.get(line) ?? [];
    let rarest = 0;
    for (const [at, line] of last.entries()) {
      if (placesOf(line).length < placesOf(last[rarest] as string).length) rarest = at;
    }
    return placesOf(last[rarest] as string).some((place) => {
      const start = place - rarest;
      return start !== from && last.every((line, at) => this.#lines[start + at] === line);
    });
  }
}

/** For each line, and for the end: the first line from there on that says something, or "". */
export function* linesAhead(lines: readonly string[]): Steps<string[]> {
  const ahead = Array.from<string>({ length: lines.length + 1 }).fill("");
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] as string;
    ahead[at] = isTelling(line) ? line : (ahead[at + 1] as string);
    if (at % ITEMS_PER_STEP === 0) yield;
  }
  return ahead;
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
