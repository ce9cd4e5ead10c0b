import type {
  NewTextConflict,
  NewVersion,
  PlacedLines,
  TextConflictRecord,
  TextVersion,
} from "../conflicts/text-conflict-record.ts";
import { wholePlacesOf } from "../conflicts/whole-place.ts";
import { hasWord } from "../text/line-diff.ts";
import { namesSamePlace } from "../text/neighbour-lines.ts";
import { plainLines } from "../text/text-form.ts";
import { type ContestedPlace, contestedPlaces } from "./contested-place.ts";
import type { WritingSide } from "./moved-lines.ts";
import type { SideLine } from "./side-lines.ts";

/**
 * Longer versions stay as they were found, because a conflict is one entry of a document's
 * metadata.
 */
const WHOLE_LENGTH_MAX = 12_000;

/**
 * Gives each version of a `both` conflict all that its side had at the place, including what does
 * not stand any more. If one side mends a line of a section, and the other deletes or replaces the
 * section, the mended line is all that stands of it. Whoever chooses that line wants the section
 * back, and not a line under a heading that nobody meant.
 *
 * Conflicts of one place become one. `all`: the lines of all three texts as they are now.
 * `disputed`: the lines of open conflicts; a place with such a line is told as it was found, unless
 * one side deleted all of it.
 */
export function wholeVersions(
  found: readonly NewTextConflict[],
  all: readonly SideLine[],
  disputed: ReadonlySet<string>,
): NewTextConflict[] {
  if (!found.some(({ kind }) => kind === "both")) return [...found];
  const isOpen = ({ text }: SideLine) => hasWord(text) && disputed.has(plain(text));
  const places = contestedPlaces(all);
  const undisputed = places.filter(({ lines }) => !lines.some(isOpen));
  const told = new Set<ContestedPlace>();
  return found.flatMap((conflict) => {
    if (conflict.kind !== "both") return [conflict];
    // The side that deleted all of a place disagrees with everything that the other side has there.
    const isDeletion = conflict.versions.some(({ text }) => text === "");
    const among = isDeletion ? places : undisputed;
    const [place, ...others] = among.filter((each) => ordersOf(each, conflict).length > 0);
    const [order, ...further] = place ? ordersOf(place, conflict) : [];
    if (!place || !order || others.length + further.length > 0) return [conflict];
    if (told.has(place)) return [];
    const whole = wholeAt(place, conflict, order);
    if (whole) told.add(place);
    return [whole ?? conflict];
  });
}

/**
 * Whether an open conflict of the same place has all that a new one would say. Lines that stand
 * only once in the text are at the same place, however the place is named.
 */
export function isToldWhole(
  { versions: [first, second] }: NewTextConflict,
  known: readonly TextConflictRecord[],
  content: string,
): boolean {
  const lines = plainLines(content);
  const standsOnce = (line: string) => lines.indexOf(line) === lines.lastIndexOf(line);
  const parts = [...saidLines(first.text), ...saidLines(second.text)];
  const isOne = parts.every((line) => lines.includes(line) && standsOnce(line));
  const isIn = (part: NewVersion, version: TextVersion) =>
    isSubset(saidLines(part.text), saidLines(version.text));
  return known.some(({ versions: [one, other] }) => {
    const places = wholePlacesOf(one);
    const own = new Set([...saidLines(one.text), ...saidLines(other.text)]);
    const isThere = ({ behind }: PlacedLines) =>
      places.some((place) => namesSamePlace(place.behind, behind)) ||
      own.has(plainLines(behind).findLast(hasWord) ?? "");
    if (places.length === 0) return false;
    const isPlace = [first, second].every(({ places = [] }) => places.every(isThere));
    if (!isPlace && !isOne) return false;
    return (isIn(first, one) && isIn(second, other)) || (isIn(first, other) && isIn(second, one));
  });
}

type Order = readonly [WritingSide, WritingSide];

const ORDERS: readonly Order[] = [
  ["mine", "theirs"],
  ["theirs", "mine"],
];

/** Which version may be which side's: those of whose lines the side wrote each at this place. */
function ordersOf(place: ContestedPlace, { versions }: NewTextConflict): readonly Order[] {
  const [one, other] = versions.map(({ text }) => saidLines(text));
  if (!one || !other || one.size + other.size === 0) return [];
  const said = (side: WritingSide) => new Set(place.writtenBy(side).map(plain).filter(hasWord));
  return ORDERS.filter(([first, second]) => {
    return isSubset(one, said(first)) && isSubset(other, said(second));
  });
}

/**
 * The whole versions of a place; undefined if everything that either side had there stands, so that
 * nothing is to be added.
 */
function wholeAt(
  place: ContestedPlace,
  conflict: NewTextConflict,
  order: Order,
): NewTextConflict | undefined {
  if (!place.hasGone) return undefined;
  const versionOf = (version: NewVersion, side: WritingSide): NewVersion => {
    const placed = place.placed(side);
    return { ...version, text: placed.text, places: [placed] };
  };
  const [one, other] = conflict.versions;
  const versions = [versionOf(one, order[0]), versionOf(other, order[1])] as const;
  const [first, second] = versions.map(({ text }) => text);
  if (first === second) return undefined;
  if (versions.some(({ text }) => text.length > WHOLE_LENGTH_MAX)) return undefined;
  return { ...conflict, versions };
}

function saidLines(text: string): ReadonlySet<string> {
  return new Set(plainLines(text).filter(hasWord));
}

function isSubset(part: ReadonlySet<string>, of: ReadonlySet<string>): boolean {
  return [...part].every((each) => of.has(each));
}

function plain(text: string): string {
  return text.replace(/\n$/, "");
}
