import type {
  NewTextConflict,
  NewVersion,
  PlacedLines,
  TextConflictRecord,
  TextVersion,
} from "../conflicts/text-conflict-record.ts";
import { placedWhole, wholePlacesOf } from "../conflicts/whole-place.ts";
import { hasWord } from "../text/line-diff.ts";
import { isTelling, namesSamePlace, neighbourStart } from "../text/neighbour-lines.ts";
import { plainLines } from "../text/text-form.ts";
import { findContestedPlaces, type LineRange } from "./contested-places.ts";
import type { WritingSide } from "./moved-lines.ts";
import type { SideLine } from "./side-lines.ts";

/** Longer ones stay as they were found: a conflict is one entry of a document's metadata. */
const WHOLE_LENGTH_MAX = 12_000;

/**
 * Gives each version of a `both` conflict all that its side had in the place, what does not stand
 * any more too. One side mends a line of a section, and the other deletes or replaces the section:
 * the mended line is all that stands of it. Whoever chooses it wants the section back, not a line
 * under a heading that nobody meant.
 *
 * Conflicts of one place become one. `all`: the lines of all three texts as they are now.
 * `disputed`: what the versions of open conflicts say; a place with such a line is told as it was
 * found.
 */
export function wholeVersions(
  found: readonly NewTextConflict[],
  all: readonly SideLine[],
  disputed: ReadonlySet<string>,
): NewTextConflict[] {
  if (!found.some(({ kind }) => kind === "both")) return [...found];
  const isOpen = ({ text }: SideLine) => hasWord(text) && disputed.has(plain(text));
  const { lines, ranges, brought } = findContestedPlaces(all);
  const contested = new Set(ranges.flatMap((range) => lines.slice(...range)));
  const isFree = (line: SideLine) => line.to > line.from && !contested.has(line);
  const places = ranges
    .filter((range) => !lines.slice(...range).some(isOpen))
    .map((range) => new ContestedPlace(lines, range, { brought, isFree }));
  const told = new Set<ContestedPlace>();
  return found.flatMap((conflict) => {
    if (conflict.kind !== "both") return [conflict];
    const [place, ...others] = places.filter((each) => each.ordersOf(conflict).length > 0);
    const [order, ...further] = place?.ordersOf(conflict) ?? [];
    if (!place || !order || others.length + further.length > 0) return [conflict];
    if (told.has(place)) return [];
    const whole = place.whole(conflict, order);
    if (whole) told.add(place);
    return [whole ?? conflict];
  });
}

/**
 * Whether an open conflict of the same place says all that one would. Lines that stand once in the
 * text are of one place, whatever names it.
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

class ContestedPlace {
  readonly #all: readonly SideLine[];
  readonly #range: LineRange;
  /** Whether a line stands, and is of no place. */
  readonly #isFree: (line: SideLine) => boolean;
  readonly #own: readonly SideLine[];
  readonly #said: Readonly<Record<WritingSide, ReadonlySet<string>>>;

  constructor(
    all: readonly SideLine[],
    range: LineRange,
    {
      brought,
      isFree,
    }: {
      readonly brought: ReadonlySet<SideLine>;
      readonly isFree: (line: SideLine) => boolean;
    },
  ) {
    this.#all = all;
    this.#isFree = isFree;
    this.#range = range;
    this.#own = all.slice(...range).filter((line) => !brought.has(line));
    this.#said = { mine: this.#saidBy("mine"), theirs: this.#saidBy("theirs") };
  }

  #saidBy(side: WritingSide): ReadonlySet<string> {
    const own = this.#own.filter((line) => line.side === side && hasWord(line.text));
    return new Set(own.map(({ text }) => plain(text)));
  }

  /** Which version may be whose, where both say only what was written here. */
  ordersOf({ versions }: NewTextConflict): readonly Order[] {
    const [one, other] = versions.map(({ text }) => saidLines(text));
    if (!one || !other || one.size + other.size === 0) return [];
    return ORDERS.filter(([first, second]) => {
      return isSubset(one, this.#said[first]) && isSubset(other, this.#said[second]);
    });
  }

  /** Undefined where all that either side had here stands, so that nothing is to be added. */
  whole(conflict: NewTextConflict, order: Order): NewTextConflict | undefined {
    const isGone = ({ side, gone, text }: SideLine) =>
      side === "base" && gone.mine !== gone.theirs && text.trim() !== "";
    if (!this.#own.some(isGone)) return undefined;
    const [one, other] = conflict.versions;
    const versions = [this.#versionOf(one, order[0]), this.#versionOf(other, order[1])] as const;
    const [first, second] = versions.map(({ text }) => text);
    if (first === second) return undefined;
    if (versions.some(({ text }) => text.length > WHOLE_LENGTH_MAX)) return undefined;
    return { ...conflict, versions };
  }

  #versionOf(version: NewVersion, side: WritingSide): NewVersion {
    const own = this.#own.filter((line) => isOf(line, side));
    const lines = own.map(({ text, from, to }) => ({ text: broken(text), stands: to > from }));
    const place = placedWhole(lines, this.#around());
    return { ...version, text: place.text, places: [place] };
  }

  /** The lines around the place, none of another one: what is there may go. */
  #around(): { readonly behind: string; readonly ahead: string } {
    const [from, to] = this.#range;
    const textsOf = (first: number, end?: number) =>
      this.#all.slice(first, end).flatMap((line) => (this.#isFree(line) ? broken(line.text) : []));
    const before = textsOf(0, from);
    const ahead = textsOf(to).find(isTelling) ?? "";
    return { behind: before.slice(neighbourStart(before, before.length)).join(""), ahead };
  }
}

/** Whether a side has a line; one of both stands between those about which they disagree. */
function isOf({ side, gone }: SideLine, by: WritingSide): boolean {
  return side === by || (side === "base" && !gone[by]);
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

function broken(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
