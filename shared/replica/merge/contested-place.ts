import type { PlacedLines } from "../conflicts/text-conflict-record.ts";
import { placedWhole } from "../conflicts/whole-place.ts";
import { isTelling, neighbourStart } from "../text/neighbour-lines.ts";
import { type ContestedPlaces, findContestedPlaces, type LineRange } from "./contested-places.ts";
import type { WritingSide } from "./moved-lines.ts";
import { isOfSide, type SideLine } from "./side-lines.ts";

/** The places in which two sides disagree. */
export function contestedPlaces(all: readonly SideLine[]): ContestedPlace[] {
  const found = findContestedPlaces(all);
  const contested = new Set(found.ranges.flatMap((range) => found.lines.slice(...range)));
  const isFree = (line: SideLine) => line.to > line.from && !contested.has(line);
  return found.ranges.map((range) => new ContestedPlace(found, range, isFree));
}

/** A place in which two sides disagree, and all that either has there. */
export class ContestedPlace {
  /** The lines of the place, and those that were brought there from elsewhere. */
  readonly lines: readonly SideLine[];
  readonly #all: ContestedPlaces;
  readonly #range: LineRange;
  /** Whether a line stands and belongs to no such place. */
  readonly #isFree: (line: SideLine) => boolean;
  /** The lines that nobody brought there from elsewhere. */
  readonly #own: readonly SideLine[];

  constructor(all: ContestedPlaces, range: LineRange, isFree: (line: SideLine) => boolean) {
    this.#all = all;
    this.#range = range;
    this.#isFree = isFree;
    this.lines = all.lines.slice(...range);
    this.#own = this.lines.filter((line) => !all.brought.has(line));
  }

  /** Whether a side took out something that the other has. */
  get hasGone(): boolean {
    return this.#own.some(({ side, gone, text }) => {
      return side === "base" && gone.mine !== gone.theirs && text.trim() !== "";
    });
  }

  get hasHeading(): boolean {
    return this.#own.some((line) => this.#all.headings.has(line));
  }

  /** Whether it is whole sections, one or more: each with its heading and all that is in it. */
  get isSection(): boolean {
    const { lines, headings } = this.#all;
    const first = this.#own.find(({ text }) => text.trim() !== "");
    const next = lines[this.#range[1]];
    return first !== undefined && headings.has(first) && (!next || headings.has(next));
  }

  /** What a side wrote here. */
  writtenBy(side: WritingSide): readonly string[] {
    return this.#own.flatMap((line) => (line.side === side ? [line.text] : []));
  }

  /** All that a side had here, including what does not stand any more. */
  placed(side: WritingSide): PlacedLines {
    const own = this.#own.filter((line) => line.side !== "mixed" && isOfSide(line, side));
    const lines = own.map(({ text, from, to }) => ({ text: broken(text), stands: to > from }));
    return placedWhole(lines, this.#around());
  }

  /** The lines around the place. Lines of another such place are left out, because they may go. */
  #around(): { readonly behind: string; readonly ahead: string } {
    const [from, to] = this.#range;
    const { lines } = this.#all;
    const textsOf = (first: number, end?: number) =>
      lines.slice(first, end).flatMap((line) => (this.#isFree(line) ? broken(line.text) : []));
    const before = textsOf(0, from);
    const ahead = textsOf(to).find(isTelling) ?? "";
    return { behind: before.slice(neighbourStart(before, before.length)).join(""), ahead };
  }
}

function broken(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
