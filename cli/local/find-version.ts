import {
  BEHIND_LENGTH_MAX,
  type PlacedLines,
  type TextConflictKind,
  type TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { headingsIn } from "../../shared/replica/text/headings.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { isTelling } from "../../shared/replica/text/neighbour-lines.ts";
import { plainLines } from "../../shared/replica/text/text-form.ts";

/** Lines of a text, by index. */
export interface FoundLines {
  readonly at: number;
  readonly count: number;
}

/** Which lines of a version are where it was, and which are missing. */
export interface FoundVersion {
  readonly found: readonly { readonly lines: FoundLines; readonly place: PlacedLines }[];
  readonly missing: readonly PlacedLines[];
}

type Version = Pick<TextVersion, "text" | "places" | "cut">;

/**
 * At most this many unknown lines may have come between a version's lines and those before them.
 */
const NEAR_LINES = 8;

/** This many equal lines with a word in them are the version's, and no accident. */
const TELLING_LINES = 3;

/**
 * Finds the lines of a conflict's version in a text. An equal line counts only at a place that is
 * recognised: directly behind what the version was behind (the other version's lines and blank ones
 * may be in between), or between that and what it was ahead of. Undefined where it is unclear which
 * lines are the version's.
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
  const starts = version.places.map((place) => findPlace(text, place));
  // From the last run to the first: a run is also recognised by standing directly before one that
  // is recognised.
  for (let nth = starts.length - 1; nth >= 0; nth--) {
    if (starts[nth] === "out") starts[nth] = findAhead(text, version.places, { nth, starts });
  }
  for (const [nth, place] of version.places.entries()) {
    const at = starts[nth];
    if (at === undefined) {
      const beside = findBeside(text.lines, version, other);
      return beside && { found: [beside], missing: [] };
    }
    if (at === "out") missing.push(place);
    else found.push({ lines: { at, count: plainLines(place.text).length }, place });
  }
  return { found, missing };
}

/** The function that finds a version of a conflict of this kind; see `findVersion`. */
export function finderFor(kind: TextConflictKind): typeof findVersion {
  return kind === "set-aside" ? findAside : findVersion;
}

/**
 * Finds the lines of a version that git set aside. What git put in their place never stood in the
 * document, so what a person typed above them is not taken for it: equal lines near their place are
 * the version's if there is just one of each.
 */
function findAside(content: string, version: Version, other: Version): FoundVersion | undefined {
  const known = findVersion(content, version, other);
  if (known || version.cut || version.places.length === 0) return known;
  const text = { lines: plainLines(content), others: new Set(plainLines(other.text)) };
  const found = version.places.flatMap((place): FoundVersion["found"][number][] => {
    const [wanted, { ends }] = [plainLines(place.text), findNeighbour(text.lines, place.behind)];
    const [at, ...more] = occurrences(text.lines, wanted);
    if (at === undefined || more.length > 0 || isTwin(place)) return [];
    const isNear = bestFit(text, place, { ends, at, n: wanted.length }) !== undefined;
    return isNear ? [{ lines: { at, count: wanted.length }, place }] : [];
  });
  return found.length === version.places.length ? { found, missing: [] } : undefined;
}

/**
 * Finds lines that are not where they were, if the version's next lines were recognised directly
 * behind them: both were moved together.
 */
function findAhead(
  { lines }: Text,
  places: readonly PlacedLines[],
  {
    nth,
    starts,
  }: { readonly nth: number; readonly starts: readonly (number | "out" | undefined)[] },
): number | "out" {
  const [place, next, start] = [places[nth], places[nth + 1], starts[nth + 1]];
  if (!place || !next || typeof start !== "number") return "out";
  const wanted = plainLines(place.text);
  const isBehind = lastSaid(plainLines(next.behind)) === lastSaid(wanted);
  const end = lines.slice(0, start).findLastIndex((line) => line.trim() !== "") + 1;
  const at = end - wanted.length;
  const isThere = at >= 0 && wanted.every((line, i) => lines[at + i] === line);
  return isBehind && isThere ? at : "out";
}

function lastSaid(lines: readonly string[]): string | undefined {
  return lines.findLast((line) => line.trim() !== "");
}

/** A text, with the lines of a conflict's other version, which may have left it. */
interface Text {
  readonly lines: readonly string[];
  readonly others: ReadonlySet<string>;
}

/** Undefined where it is not certain. */
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
  const shown = wanted.filter((line) => line.trim() !== "");
  // A line such as a fence may be of any block, so it counts only if the version has no others.
  const said = shown.some(isTelling) ? shown.filter(isTelling) : shown;
  if (ends.length === 0) {
    return said.some((line) => text.lines.includes(line)) ? undefined : "out";
  }
  // If a part of it is there, the version was changed: it is neither in the text nor out of it.
  const around = ends.flatMap((end) => regionFrom(text, place, { end, n: wanted.length }));
  return said.some((line) => around.includes(line)) ? undefined : "out";
}

/** How a version was found, from the most to the least certain. `near` may be another version's. */
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
  const [next = ""] = lines.slice(at + n).filter((line) => isStranger(line) && isTelling(line));
  // At the end of a text, beside another version, lines below may have been added later.
  const isKnown = ahead !== "" || others.size === 0;
  return isKnown && next === ahead ? "between" : "near";
}

/**
 * Whether an equal line followed the version. Once one of the two is gone, nobody knows which one
 * it was.
 */
function isTwin({ ahead, text }: PlacedLines): boolean {
  return plainLines(text).includes(plainLines(ahead ?? "")[0] ?? "\0");
}

/** What a version was ahead of, unless a version contains the same line. */
function aheadOf({ ahead, text }: PlacedLines, others: ReadonlySet<string>): string | undefined {
  const [line = ""] = plainLines(ahead ?? "");
  if (ahead === undefined || others.has(line) || plainLines(text).includes(line)) return undefined;
  return line;
}

/** The lines between what a version was behind and what it was ahead of. */
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
 * Where the lines end that a version was behind: all of them, or else the last one that says
 * something. The last one alone may be a different one, if several lines named the place.
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

/** Only the end of a line that is too long was stored. */
function equalEnd(line: string, wanted: string): boolean {
  return line === wanted || (wanted.length >= BEHIND_LENGTH_MAX - 1 && line.endsWith(wanted));
}

/**
 * For a version whose place was not stored: beside the other one, or where enough lines are equal.
 */
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
 * Finds both versions of a conflict without taking one for a part of the other: one may begin or
 * end like the other. `find` finds each alone.
 */
export function findBoth(
  content: string,
  [one, other]: readonly [Version, Version],
  find = findVersion,
): readonly [FoundVersion, FoundVersion] | undefined {
  const found = [find(content, one, other), find(content, other, one)] as const;
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

/** Both versions one after the other are the place, whatever surrounds them. */
function findBeside(lines: readonly string[], version: Version, other: Version) {
  const [own, others] = [plainLines(version.text), plainLines(other.text)];
  if (others.length === 0 || other.cut || version.text === other.text) return undefined;
  if (version.places.some(isTwin)) return undefined;
  const before = occurrences(lines, [...own, ...others]);
  const behind = occurrences(lines, [...others, ...own]);
  const starts = [...before, ...behind.map((at) => at + others.length)];
  const [at, ...more] = starts;
  if (at === undefined || more.length > 0) return undefined;
  return { lines: { at, count: own.length }, place: { behind: "", text: version.text } };
}

/** Lines with a word in them that are at a version's place and in neither version. */
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

/** Up to the lines that the version was ahead of; else to the end of the paragraph. */
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
  const headings = headingsIn(lines);
  const parted = next.findIndex((line, nth) => line.trim() === "" || headings.has(known + nth));
  return known + (parted === -1 ? next.length : parted);
}

/** Where a version was, and where lines of the other one are. */
interface StrangersAt {
  readonly place: PlacedLines;
  readonly version: Version;
  readonly other: Version;
  readonly standing: FoundLines | undefined;
}

/** Where these whole lines are together. */
export function occurrences(
  lines: readonly string[],
  wanted: readonly string[],
  isEqual: (line: string, wanted: string) => boolean = (line, other) => line === other,
): number[] {
  if (wanted.length === 0) return [];
  const standsAt = (at: number) => wanted.every((line, i) => isEqual(lines[at + i] ?? "\0", line));
  return lines.flatMap((_, at) => (standsAt(at) ? [at] : []));
}
