import { hasWord } from "../text/line-diff.ts";
import { isTelling } from "../text/neighbour-lines.ts";
import { plainLines } from "../text/text-form.ts";
import type { PlacedLines, TextVersion } from "./text-conflict-record.ts";

type Version = Pick<TextVersion, "text" | "places">;

/** The places of a version that has all its side had there; none for any other version. */
export function wholePlacesOf({ places }: Version): readonly PlacedLines[] {
  return places.every(({ whole }) => whole) ? places : [];
}

/** A line that one side has at a place. */
export interface WholeLine {
  /** With its line break. */
  readonly text: string;
  readonly stands: boolean;
}

/** All lines that a side has at a place; the blank ones at both ends come with them. */
export function placedWhole(
  lines: readonly WholeLine[],
  around: Pick<PlacedLines, "behind" | "ahead">,
): PlacedLines {
  const isSaid = ({ text }: WholeLine) => text.trim() !== "";
  const end = lines.findLastIndex(isSaid) + 1;
  const before = Math.max(0, lines.slice(0, end).findIndex(isSaid));
  const [own, after] = [lines.slice(before, end), lines.length - end];
  const gone = own.flatMap(({ stands }, at) => (stands ? [] : [at]));
  return {
    ...around,
    text: own.map(({ text }) => text).join(""),
    whole: true,
    ...(gone.length > 0 && { gone }),
    ...(before > 0 && { before }),
    ...(after > 0 && { after }),
  };
}

/**
 * Where in a text, as lines [from, to), the versions of one place stand, or what is left of them:
 * between what they stood behind and ahead of. Where one of these is gone or stands twice, as far
 * as the lines are the versions'; undefined where both are.
 */
export function findWholePlace(
  lines: readonly string[],
  versions: readonly PlacedLines[],
): readonly [from: number, to: number] | undefined {
  const [place] = versions;
  if (!place) return undefined;
  const own = new Set(versions.flatMap(({ text }) => plainLines(text)));
  const isOwn = (at: number) => own.has(lines[at] ?? "") || lines[at]?.trim() === "";
  const from = endOf(lines, place.behind);
  const to = startOf(lines, place.ahead, from ?? 0);
  if (from !== undefined && to !== undefined) return [from, to];
  if (from !== undefined) {
    let end = from;
    while (end < lines.length && isOwn(end)) end++;
    return [from, end];
  }
  if (to === undefined) return undefined;
  let start = to;
  while (start > 0 && isOwn(start - 1)) start--;
  return [start, to];
}

/**
 * Whether nothing is left of a version where it stood, and nothing that may have come of its lines
 * since; undefined where that is not known.
 */
export function isGoneFromPlaces(
  content: string,
  version: Version,
  other: Version,
): boolean | undefined {
  const lines = plainLines(content);
  const places = wholePlacesOf(version);
  const ranges = places.map((place) => findWholePlace(lines, [place]));
  if (places.length === 0 || ranges.includes(undefined)) return undefined;
  const [own, others] = [version, other].map(({ text }) => new Set(plainLines(text)));
  const isLeft = (line: string) => line.trim() !== "" && (own?.has(line) || !others?.has(line));
  if (ranges.some((range) => range && lines.slice(...range).some(isLeft))) return false;
  // A person who moves a line, or puts another one in its place, has not taken it out.
  const there = new Set(lines);
  return !standingIn(places).some((line) => !others?.has(line) && there.has(line));
}

/** The lines that stood when the conflict was told. */
function standingIn(places: readonly PlacedLines[]): string[] {
  return places.flatMap(({ text, gone = [] }) => {
    return plainLines(text).filter((line, at) => isTelling(line) && !gone.includes(at));
  });
}

/** The line after these lines, or after the last of them with a word in it, if they stand once. */
function endOf(lines: readonly string[], behind: string): number | undefined {
  const wanted = plainLines(behind);
  if (!wanted.some(hasWord)) return 0;
  const [whole, ...others] = startsOf(lines, wanted);
  if (whole !== undefined && others.length === 0) return whole + wanted.length;
  const said = wanted.findLastIndex(hasWord);
  const [last, ...more] = startsOf(lines, wanted.slice(said, said + 1));
  return last === undefined || more.length > 0 ? undefined : last + 1;
}

function startOf(lines: readonly string[], ahead: string | undefined, from: number) {
  if (ahead === undefined) return undefined;
  if (ahead === "") return lines.length;
  const at = lines.indexOf(plainLines(ahead)[0] ?? "", from);
  return at === -1 ? undefined : at;
}

function startsOf(lines: readonly string[], wanted: readonly string[]): number[] {
  const isAt = (at: number) => wanted.every((line, nth) => lines[at + nth] === line);
  return lines.flatMap((_, at) => (isAt(at) ? [at] : []));
}
