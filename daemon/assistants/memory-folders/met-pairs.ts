import { diffLines } from "../../../shared/replica/text/line-diff.ts";
import { splitForm } from "../../../shared/replica/text/text-form.ts";
import { isWording, mayBeVersions } from "./mended-line.ts";
import type { MergedTexts, TextSides } from "./merge-texts.ts";

/** Two lines that may be versions of one line, each with its line break. */
export interface MetPair {
  readonly mine: string;
  readonly theirs: string;
}

/** Whether a line is no version of another one, whatever place it has. */
type IsOther = (line: string, later: string) => boolean;

/**
 * The lines of a merge that somebody should compare: what both sides have in the place of one line,
 * however unlike the two are, what one has so and the other beside that line, if it is like it, and
 * lines alike of one place. Of two edits of neighbouring lines neither is too much.
 */
export function metPairs(
  sides: TextSides,
  { text, places }: Omit<MergedTexts, "isClean">,
  isOther: IsOther = () => false,
): MetPair[] {
  const stands = new Set(linesOf(text));
  const all = [...rewrittenByBoth(sides, isOther), ...places.flatMap(alikePairs)];
  const pairs = new Map<string, MetPair>();
  for (const [mine, theirs] of all) {
    if (mine === theirs || !stands.has(mine) || !stands.has(theirs)) continue;
    const pair = { mine: `${mine}\n`, theirs: `${theirs}\n` };
    pairs.set(JSON.stringify([mine, theirs].sort()), pair);
  }
  return [...pairs.values()];
}

/** The lines of two versions of a place that are alike. */
function alikePairs({ mine, theirs }: MetPair): (readonly [string, string])[] {
  const left = linesOf(theirs);
  return linesOf(mine).flatMap((line) => {
    const at = left.findIndex((other) => other !== line && mayBeVersions(other, line));
    const [other] = at === -1 ? [] : left.splice(at, 1);
    return other === undefined ? [] : [[line, other] as const];
  });
}

/** What both sides have in the place of one line, or one of them beside it. */
function rewrittenByBoth(
  { base, mine, theirs }: TextSides,
  isOther: IsOther,
): (readonly [string, string])[] {
  const before = linesOf(base);
  const [own, others] = [linesOf(mine), linesOf(theirs)];
  const placed = (text: readonly string[]) => rewritten(before, text, isOther);
  const worded = (text: readonly string[]) => wordedBeside(before, text, isOther);
  const [owns, theirOnes] = [placed(own), placed(others)];
  const [beside, theirBeside] = [worded(own), worded(others)];
  return [
    ...[...owns].map(([at, line]) => [line, theirOnes.get(at) ?? theirBeside.get(at)] as const),
    ...[...theirOnes].map(
      ([at, line]) => [owns.has(at) ? undefined : beside.get(at), line] as const,
    ),
  ].flatMap(([one, other]) => (one === undefined || other === undefined ? [] : [[one, other]]));
}

/**
 * The lines of a side that may be another wording of one that stands beside them, by that one's
 * number: a line that came shortly before stays where a save has it in other words.
 */
function wordedBeside(
  base: readonly string[],
  text: readonly string[],
  isOther: IsOther,
): Map<number, string> {
  const found = new Map<number, string>();
  const isWordingOf = (each: string, line: string) => isWording(each, line) && !isOther(each, line);
  for (const { at, removed, from, added } of diffLines(base, text)) {
    if (removed > 0) continue;
    for (const line of text.slice(from, from + added)) {
      const near = base.slice(Math.max(0, at - added), at + added);
      const offset = near.findIndex((each) => isText(each) && isWordingOf(each, line));
      if (offset !== -1) found.set(Math.max(0, at - added) + offset, line);
    }
  }
  return found;
}

/** What a side has in the place of each line that it rewrote, by the line's number. */
function rewritten(
  base: readonly string[],
  text: readonly string[],
  isOther: IsOther,
): Map<number, string> {
  const found = new Map<number, string>();
  for (const { at, removed, from, added } of diffLines(base, text)) {
    const open = text.slice(from, from + added).filter(isText);
    const taken = base.slice(at, at + removed);
    const numbers = taken.flatMap((line, offset) => (isText(line) ? [at + offset] : []));
    const takeFirst = (number: number, isIt: (line: string) => boolean) => {
      const isVersion = (line: string) => isIt(line) && !isOther(base[number] ?? "", line);
      const next = found.has(number) ? -1 : open.findIndex(isVersion);
      const [instead] = next === -1 ? [] : open.splice(next, 1);
      if (instead !== undefined) found.set(number, instead);
    };
    for (const number of numbers) {
      takeFirst(number, (line) => mayBeVersions(base[number] ?? "", line));
    }
    for (const number of numbers) takeFirst(number, () => true);
  }
  return found;
}

function isText(line: string): boolean {
  return line.trim() !== "";
}

function linesOf(text: string): string[] {
  return splitForm(text).lines.split("\n");
}
