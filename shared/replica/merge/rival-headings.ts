import { hasWord } from "../text/line-diff.ts";
import { isTelling } from "../text/neighbour-lines.ts";
import type { WritingSide } from "./moved-lines.ts";
import { SideHeadings } from "./side-headings.ts";
import { hunksOf } from "./side-hunks.ts";
import { isOfSide, type SideLine } from "./side-lines.ts";

/** This many lines behind a heading show that it is the same section, at another place. */
const WORDS_MIN = 2;

/** Two names of one section, which one side moved. */
export interface RivalHeadings {
  /** The name that the other side gave it, at its former place. */
  readonly lines: readonly SideLine[];
  /** Where in the visible text that belongs; undefined where it stands there already. */
  readonly at: number | undefined;
  /** The name that the side gave it that moved it. */
  readonly rival: readonly SideLine[];
  /** The line with a word behind both. */
  readonly ahead: SideLine;
}

/**
 * One side moved and renamed a section that the other side renamed, too. The merge leaves the other
 * side's name at the former place, above lines of another section; choosing that name would put the
 * section's lines under the heading before it. The section is recognised by the lines behind its
 * heading. `disputed`: the lines of open conflicts.
 */
export function findRivalHeadings(
  lines: readonly SideLine[],
  disputed: ReadonlySet<string>,
): RivalHeadings[] {
  const headings = new SideHeadings(lines).all;
  if (headings.size === 0) return [];
  const nameIn = (all: readonly SideLine[]) => {
    const own = all.filter(({ text }) => text.trim() !== "");
    const [name, ...more] = own.filter(({ text }) => hasWord(text));
    const isName = name && own[0] === name && headings.has(name) && more.length === 0;
    return isName && !disputed.has(name.text.replace(/\n$/, "")) ? own : undefined;
  };
  return (["mine", "theirs"] as const).flatMap((mover) => {
    const moved = new MovedSections(lines, headings, mover);
    return hunksOf(lines, mover === "mine" ? "theirs" : "mine").flatMap((hunk) => {
      const [former, name] = [nameIn(hunk.removed), nameIn(hunk.added)];
      if (!former?.[0] || !name?.every(({ text }) => text.endsWith("\n"))) return [];
      const found = moved.nameOf(former[0]);
      const rival = found && nameIn(found.rival);
      if (!found || !rival?.[0]) return [];
      const at = isBeside(lines, name, rival) ? undefined : rival[0].from;
      return [{ lines: name, at, rival, ahead: found.ahead }];
    });
  });
}

/** Whether no word stands between two names. */
function isBeside(
  lines: readonly SideLine[],
  one: readonly SideLine[],
  other: readonly SideLine[],
): boolean {
  const at = [...one, ...other].map((line) => lines.indexOf(line));
  const own = new Set([...one, ...other]);
  const between = lines.slice(Math.min(...at), Math.max(...at));
  return !between.some((line) => line.to > line.from && !own.has(line) && hasWord(line.text));
}

/** Where the sections of the base are in the text of a side that moved some. */
class MovedSections {
  readonly #base: readonly SideLine[];
  readonly #own: readonly SideLine[];
  readonly #headings: ReadonlySet<SideLine>;
  readonly #mover: WritingSide;

  constructor(lines: readonly SideLine[], headings: ReadonlySet<SideLine>, mover: WritingSide) {
    this.#base = lines.filter(({ side }) => side === "base");
    this.#own = lines.filter((line) => isOfSide(line, mover));
    this.#headings = headings;
    this.#mover = mover;
  }

  /** The mover's name of a section that it renamed, and the section's first line with a word. */
  nameOf(former: SideLine) {
    if (!former.gone[this.#mover]) return undefined;
    const body = this.#bodyOf(former);
    const [first, ...more] = body.length < WORDS_MIN ? [] : this.#placesOf(body);
    const ahead = this.#own[first ?? -1];
    if (first === undefined || !ahead || more.length > 0) return undefined;
    const start = this.#own.slice(0, first).findLastIndex((line) => this.#headings.has(line));
    const rival = this.#own.slice(Math.max(0, start), first);
    const isNew = ({ side, text }: SideLine) =>
      side === this.#mover && !this.#base.some((line) => line.text === text);
    if (start === -1 || !rival.filter(({ text }) => hasWord(text)).every(isNew)) return undefined;
    // A diff takes the smaller part for the moved one. That may be the part over which the section
    // was moved.
    const above = this.#own.slice(0, start).findLast(({ text }) => hasWord(text));
    const isMoved = [above, ahead].some((line) => line && this.#isBrought(line));
    return isMoved ? { rival, ahead } : undefined;
  }

  #isBrought({ side, text }: SideLine): boolean {
    const isTaken = (line: SideLine) => line.gone[this.#mover] && line.text === text;
    return side === this.#mover && this.#base.some(isTaken);
  }

  /** The first lines that say something behind a heading of the base. */
  #bodyOf(heading: SideLine): readonly SideLine[] {
    const rest = this.#base.slice(this.#base.indexOf(heading) + 1);
    const end = rest.findIndex((line) => this.#headings.has(line));
    const own = end === -1 ? rest : rest.slice(0, end);
    return own.filter(({ text }) => isTelling(text)).slice(0, WORDS_MIN);
  }

  /** Where lines of the base are that its side kept or moved. */
  #placesOf(body: readonly SideLine[]): number[] {
    const said = [...this.#own.entries()].filter(([, { text }]) => isTelling(text));
    return said.flatMap(([at], nth) => {
      const there = said.slice(nth, nth + body.length);
      const isIt = body.every((line, i) => {
        const [, own] = there[i] ?? [];
        return own === line || (line.gone[this.#mover] && own?.text === line.text);
      });
      return isIt ? [at] : [];
    });
  }
}
