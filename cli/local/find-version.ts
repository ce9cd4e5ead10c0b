import {
  BEHIND_LENGTH_MAX,
  type PlacedLines,
  type TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { isHeading } from "../../shared/replica/text/code-blocks.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";

/** Lines of a text, by index. */
export interface FoundLines {
  readonly at: number;
  readonly count: number;
}

/** What of a version stands where it stood, and what does not. */
export interface FoundVersion {
  readonly found: readonly { readonly lines: FoundLines; readonly place: PlacedLines }[];
  readonly missing: readonly PlacedLines[];
}

type Version = Pick<TextVersion, "text" | "places" | "cut">;

/** So many lines that nobody knows may have come between lines and what they stood behind. */
const NEAR_LINES = 8;

/** So many lines with a word don't stand together a second time by chance. */
const TELLING_LINES = 3;

/**
 * Where the lines of a conflict's version stand. A line that says the same counts only where its
 * place is known again: directly behind what it stood behind (the other version's lines and blank
 * ones may be between), or between that and what it stood ahead of. Undefined where nobody can say
 * whether lines are the version's.
 */
export function findVersion(
  content: string,
  version: Version,
  other: Version,
): FoundVersion | undefined {
  if (version.text === "") return { found: [], missing: [] };
  if (version.cut) return undefined;
  const text = { lines: plainLines(content), others: new Set(plainLines(other.text)) };
  if (version.places.length === 0) return findUnplaced(text, version, other);
  const found: FoundVersion["found"][number][] = [];
  const missing: PlacedLines[] = [];
  for (const place of version.places) {
    const at = findPlace(text, place);
    if (at === undefined) {
      const beside = findBeside(text.lines, version, other);
      return beside && { found: [beside], missing: [] };
    }
    if (at === "out") missing.push(place);
    else found.push({ lines: { at, count: plainLines(place.text).length }, place });
  }
  return { found, missing };
}

/** A text, and the lines of a conflict's other version, which may be gone from it. */
interface Text {
  readonly lines: readonly string[];
  readonly others: ReadonlySet<string>;
}

/** Undefined where it is not sure. */
function findPlace(text: Text, place: PlacedLines): number | "out" | undefined {
  const wanted = plainLines(place.text);
  const { ends, isWhole } = findNeighbour(text.lines, place.behind);
  const all = occurrences(text.lines, wanted);
  const fits = all.map((at) => ({ at, fit: bestFit(text, place, { ends, at, n: wanted.length }) }));
  const there = fits.filter(({ fit }) => fit !== undefined && fit !== "near");
  if (isTwin(place) && there.length < 2) return undefined;
  for (const fit of FITS) {
    const [first, ...more] = fits.filter((each) => each.fit === fit);
    if (!first) continue;
    return more.length === 0 && isWhole && fit !== "near" ? first.at : undefined;
  }
  const said = wanted.filter((line) => line.trim() !== "");
  if (ends.length === 0) {
    return said.some((line) => text.lines.includes(line)) ? undefined : "out";
  }
  // Where a part of it stands it was changed, and is neither there nor gone.
  const around = ends.flatMap((end) => regionFrom(text, place, { end, n: wanted.length }));
  return said.some((line) => around.includes(line)) ? undefined : "out";
}

/** The better first. A `near` one may be another's. */
const FITS = ["directly", "behind", "between", "near"] as const;

function bestFit(
  text: Text,
  place: PlacedLines,
  { ends, at, n }: { readonly ends: readonly number[]; readonly at: number; readonly n: number },
) {
  const fits = ends.map((end) => fitOf(text, place, { end, at, n }));
  return FITS.find((fit) => fits.includes(fit));
}

function fitOf(
  { lines, others }: Text,
  place: PlacedLines,
  { end, at, n }: { readonly end: number; readonly at: number; readonly n: number },
) {
  if (at < end) return undefined;
  if (at === end) return "directly";
  const isStranger = (line: string) => line.trim() !== "" && !others.has(line);
  const between = lines.slice(end, at).filter(isStranger);
  if (between.length === 0) return "behind";
  if (between.length > NEAR_LINES) return undefined;
  const ahead = aheadOf(place, others);
  if (ahead === undefined) return "near";
  if (ahead !== "" && between.includes(ahead)) return undefined;
  const [next = ""] = lines.slice(at + n).filter(isStranger);
  // At the end of a text, beside another version, what stands below may have been added there.
  const isKnown = ahead !== "" || others.size === 0;
  return isKnown && next === ahead ? "between" : "near";
}

/** An equal line followed: where one of the two is gone nobody knows which. */
function isTwin({ ahead, text }: PlacedLines): boolean {
  return plainLines(text).includes(plainLines(ahead ?? "")[0] ?? "\0");
}

/** What a version stood ahead of, unless one of the two says the same. */
function aheadOf({ ahead, text }: PlacedLines, others: ReadonlySet<string>): string | undefined {
  const [line = ""] = plainLines(ahead ?? "");
  if (ahead === undefined || others.has(line) || plainLines(text).includes(line)) return undefined;
  return line;
}

/** The lines between what a version stood behind and ahead of. */
function regionFrom(
  { lines, others }: Text,
  place: PlacedLines,
  { end, n }: { readonly end: number; readonly n: number },
): string[] {
  const rest = lines.slice(end, end + n + others.size + NEAR_LINES);
  const ahead = aheadOf(place, others);
  const to = ahead === undefined || ahead === "" ? -1 : rest.indexOf(ahead);
  return to === -1 ? rest : rest.slice(0, to);
}

/**
 * Where the lines end that others stood behind: all of them, or else the last one that says
 * something. Of that alone nobody knows whether it is the same where more lines named the place.
 */
function findNeighbour(lines: readonly string[], behind: string) {
  const wanted = plainLines(behind);
  const said = wanted.filter((line) => line.trim() !== "");
  const last = said.at(-1);
  if (last === undefined) return { ends: [0], isWhole: true };
  const together = occurrences(lines, wanted, equalEnd).map((at) => at + wanted.length);
  if (together.length > 0) return { ends: together, isWhole: true };
  const alone = occurrences(lines, [last], equalEnd).map((at) => at + 1);
  return { ends: alone, isWhole: said.length === 1 };
}

/** Of a line that is too long its end is kept. */
function equalEnd(line: string, wanted: string): boolean {
  return line === wanted || (wanted.length >= BEHIND_LENGTH_MAX - 1 && line.endsWith(wanted));
}

/** Of a version whose place was not kept: beside the other one, or where it says much. */
function findUnplaced(text: Text, version: Version, other: Version): FoundVersion | undefined {
  const beside = findBeside(text.lines, version, other);
  if (beside) return { found: [beside], missing: [] };
  const wanted = plainLines(version.text);
  const [at, ...more] = occurrences(text.lines, wanted);
  const place = { behind: "", text: version.text };
  if (at === undefined) {
    const isLeft = wanted.some((line) => line.trim() !== "" && text.lines.includes(line));
    return isLeft ? undefined : { found: [], missing: [place] };
  }
  const isTelling = more.length === 0 && wanted.filter(hasWord).length >= TELLING_LINES;
  return isTelling
    ? { found: [{ lines: { at, count: wanted.length }, place }], missing: [] }
    : undefined;
}

/**
 * Both versions of a conflict, where neither is taken for lines of the other: one may begin or end
 * as the other one does.
 */
export function findBoth(
  content: string,
  [one, other]: readonly [Version, Version],
): readonly [FoundVersion, FoundVersion] | undefined {
  const found = [findVersion(content, one, other), findVersion(content, other, one)] as const;
  if (!found[0] || !found[1]) return undefined;
  const isTorn = found[0].found.some(({ lines: { at, count } }) =>
    found[1]?.found.some(({ lines }) => at < lines.at + lines.count && lines.at < at + count),
  );
  if (!isTorn) return [found[0], found[1]];
  const lines = plainLines(content);
  const beside = [findBeside(lines, one, other), findBeside(lines, other, one)] as const;
  if (!beside[0] || !beside[1]) return undefined;
  return [
    { found: [beside[0]], missing: [] },
    { found: [beside[1]], missing: [] },
  ];
}

/** Both versions one after the other are the place, whatever is around them. */
function findBeside(lines: readonly string[], version: Version, other: Version) {
  const [own, others] = [plainLines(version.text), plainLines(other.text)];
  if (others.length === 0 || other.cut || version.text === other.text) return undefined;
  if (version.places.some(isTwin)) return undefined;
  const [before, behind] = [
    [...own, ...others],
    [...others, ...own],
  ].map((both) => occurrences(lines, both)) as [number[], number[]];
  const starts = [...before, ...behind.map((at) => at + others.length)];
  const [at, ...more] = starts;
  if (at === undefined || more.length > 0) return undefined;
  return { lines: { at, count: own.length }, place: { behind: "", text: version.text } };
}

/** Lines with a word that stand where a version stood, and are in none of the two. */
export function strangersAt(
  content: string,
  { place, version, other, standing }: StrangersAt,
): string[] {
  const lines = plainLines(content);
  const text = { lines, others: new Set(plainLines(other.text)) };
  const { ends } = findNeighbour(lines, place.behind);
  const end = standing ? ends.findLast((each) => each <= standing.at) : ends[0];
  if (end === undefined) return [];
  const own = new Set(plainLines(version.text));
  const there = lines.slice(end, endOfPlace(text, place, { end, standing }));
  return there.filter((line) => hasWord(line) && !own.has(line) && !text.others.has(line));
}

/** As far as what the lines stood ahead of, or else as far as lines stand together. */
function endOfPlace(
  { lines, others }: Text,
  place: PlacedLines,
  { end, standing }: { readonly end: number; readonly standing: FoundLines | undefined },
): number {
  const known = standing ? standing.at + standing.count : end;
  const ahead = aheadOf(place, others);
  if (ahead === undefined) return known;
  const next = lines.slice(known, known + NEAR_LINES);
  const to = ahead === "" ? -1 : next.indexOf(ahead);
  if (to !== -1) return known + to;
  const parted = next.findIndex((line) => line.trim() === "" || isHeading(line));
  return known + (parted === -1 ? next.length : parted);
}

/** Where a version stood, and where lines of the other one stand. */
interface StrangersAt {
  readonly place: PlacedLines;
  readonly version: Version;
  readonly other: Version;
  readonly standing: FoundLines | undefined;
}

/** Where whole lines stand together. */
export function occurrences(
  lines: readonly string[],
  wanted: readonly string[],
  isEqual: (line: string, wanted: string) => boolean = (line, other) => line === other,
): number[] {
  if (wanted.length === 0) return [];
  const standsAt = (at: number) => wanted.every((line, i) => isEqual(lines[at + i] ?? "\0", line));
  return lines.flatMap((_, at) => (standsAt(at) ? [at] : []));
}
