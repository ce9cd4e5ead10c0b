import { isFence } from "../text/code-blocks.ts";
import { commonLines, hasWord } from "../text/line-diff.ts";
import { isTelling } from "../text/neighbour-lines.ts";
import type { WritingSide } from "./moved-lines.ts";
import { SideHeadings } from "./side-headings.ts";
import { hunksOf, type SideHunk } from "./side-hunks.ts";
import type { SideLine } from "./side-lines.ts";

/** Lines [from, to). */
export type LineRange = readonly [from: number, to: number];

/** The places in which two sides disagree, and the lines in which they are found. */
export interface ContestedPlaces {
  /**
   * The lines of all three texts. A line that a side wrote again in its place counts as unchanged.
   */
  readonly lines: readonly SideLine[];
  readonly ranges: readonly LineRange[];
  readonly headings: ReadonlySet<SideLine>;
  /** Lines that a side brought there from elsewhere. */
  readonly brought: ReadonlySet<SideLine>;
}

/**
 * Finds the places in which the sides disagree. A place is what either side wrote there, what it
 * took out, and the rest of the section around that, unless both sides have it. A move makes no
 * such place, because it asks another question: where lines belong. So lines that a side brought
 * there from elsewhere belong to no place, and a place is left out if a side has elsewhere what it
 * took from there.
 */
export function findContestedPlaces(all: readonly SideLine[]): ContestedPlaces {
  const lines = withoutRenewed(all);
  const hunks = { mine: hunksOf(lines, "mine"), theirs: hunksOf(lines, "theirs") };
  const brought = new Set(
    WRITING_SIDES.flatMap((editor) => broughtBy(lines, hunks[editor], editor)),
  );
  const text = new ContestedText(lines, brought);
  const ranges = [...hunks.mine, ...hunks.theirs].flatMap((hunk) => {
    const range = text.placeOf(hunk);
    return range ? [range] : [];
  });
  const joined: [number, number][] = [];
  for (const [from, to] of ranges.sort(([one], [other]) => one - other)) {
    const last = joined.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  const left = joined.filter((range) => !text.hasMoved(range));
  return { lines, brought, ranges: left, headings: text.headings };
}

const WRITING_SIDES: readonly WritingSide[] = ["mine", "theirs"];

/**
 * Leaves out lines that a side took out and wrote again in the same place, as the choice of a
 * conflict's version does: nobody disagrees about those.
 */
function withoutRenewed(lines: readonly SideLine[]): readonly SideLine[] {
  const renewed = new Map<SideLine, SideLine | undefined>();
  for (const editor of WRITING_SIDES) {
    for (const { removed, added } of hunksOf(lines, editor)) {
      for (const [at, nth] of renewedIn(removed, added)) {
        const [former, line] = [removed[at], added[nth]];
        if (!former || !line || former.gone[editor === "mine" ? "theirs" : "mine"]) continue;
        renewed.set(former, undefined);
        renewed.set(line, { ...line, side: "base" });
      }
    }
  }
  if (renewed.size === 0) return lines;
  return lines.flatMap((line) => (renewed.has(line) ? (renewed.get(line) ?? []) : [line]));
}

/** Equal lines that say something, with the equal ones between them. */
function renewedIn(removed: readonly SideLine[], added: readonly SideLine[]) {
  const tellingIn = (lines: readonly SideLine[]) =>
    [...lines.entries()].filter(([, { text }]) => isTelling(text));
  const [were, are] = [tellingIn(removed), tellingIn(added)];
  const textOf = ([, { text }]: [number, SideLine]) => text;
  const pairs: [at: number, nth: number][] = [];
  for (const [one, other] of commonLines(were.map(textOf), are.map(textOf))) {
    const [[at] = [0], [nth] = [0]] = [were[one], are[other]];
    const [former, last] = pairs.at(-1) ?? [-1, -1];
    const between = removed.slice(former + 1, at).map(({ text }) => text);
    const isSame = between.every((text, i) => added[last + 1 + i]?.text === text);
    if (pairs.length > 0 && isSame && at - former === nth - last)
      for (const i of between.keys()) pairs.push([former + 1 + i, last + 1 + i]);
    pairs.push([at, nth]);
  }
  return pairs;
}

/** Lines that a side brought from elsewhere: it wrote them where it took out none like them. */
function broughtBy(
  lines: readonly SideLine[],
  hunks: readonly SideHunk[],
  editor: WritingSide,
): SideLine[] {
  const taken = lines.filter(({ side, gone }) => side === "base" && gone[editor]);
  const texts = new Set(taken.map(({ text }) => text));
  return hunks.flatMap(({ added, removed }) => {
    const here = new Set(removed.map(({ text }) => text));
    return added.filter(({ text }) => isTelling(text) && texts.has(text) && !here.has(text));
  });
}

class ContestedText {
  readonly #lines: readonly SideLine[];
  readonly #brought: ReadonlySet<SideLine>;
  readonly #headings: SideHeadings;
  readonly #indexOf: ReadonlyMap<SideLine, number>;

  constructor(lines: readonly SideLine[], brought: ReadonlySet<SideLine>) {
    this.#lines = lines;
    this.#brought = brought;
    this.#headings = new SideHeadings(lines);
    this.#indexOf = new Map(lines.map((line, at) => [line, at]));
  }

  get headings(): ReadonlySet<SideLine> {
    return this.#headings.all;
  }

  /** What a side changed, with the lines of its section around that, as far as sides disagree. */
  placeOf({ added, removed }: SideHunk): LineRange | undefined {
    const own = added.filter((line) => hasWord(line.text) && !this.#brought.has(line));
    if (own.length === 0) return undefined;
    const at = [...own, ...removed].map((line) => this.#indexOf.get(line) ?? 0);
    const [first, end] = [Math.min(...at), Math.max(...at) + 1];
    let [from, to] = [first, end];
    const headings = this.#headings;
    while (from > 0 && headings.level(from) === undefined && !this.#isEdge(from - 1)) from--;
    from = this.#outermost(from);
    while (from > 0 && isGoneBlank(this.#lines[from - 1])) from--;
    const isOver = () => this.#isEdge(to) || headings.ends([from, end], to);
    while (to < this.#lines.length && !isOver()) to++;
    // A line without a word that both sides have is not part of a disagreement.
    while (from < first && isShared(this.#lines[from])) from++;
    return [from, this.#beforeFence([from, to], end)];
  }

  /**
   * The end of a place that would otherwise end with a fence that both sides have, without its
   * block.
   */
  #beforeFence([from, to]: LineRange, end: number): number {
    const fences = this.#lines.slice(from, to).filter(({ text }) => isFence(text));
    const rest = this.#lines.slice(end, to);
    const at = rest.findIndex(({ text }) => isFence(text));
    return fences.length % 2 === 1 && at !== -1 && rest.slice(at).every(isShared) ? end + at : to;
  }

  /** The heading of the outermost section that is in dispute around the given one. */
  #outermost(heading: number): number {
    let found = heading;
    for (let at = heading - 1; at >= 0 && !this.#isEdge(at); at--) {
      const level = this.#headings.level(at);
      if (level !== undefined && level < (this.#headings.level(found) ?? 0)) found = at;
    }
    return found;
  }

  /**
   * Whether a place ends at a line: it was brought there, or it says something and neither side
   * took it out.
   */
  #isEdge(at: number): boolean {
    const line = this.#lines[at];
    if (line === undefined || line.side === "mixed" || this.#brought.has(line)) return true;
    return isShared(line) && isTelling(line.text);
  }

  /** Whether a side has elsewhere what it took from here. */
  hasMoved([from, to]: LineRange): boolean {
    const own = this.#lines.slice(from, to);
    const outside = [...this.#lines.slice(0, from), ...this.#lines.slice(to)];
    return WRITING_SIDES.some((mover) => {
      const elsewhere = new Set(outside.flatMap(({ side, text }) => (side === mover ? text : [])));
      const isMoved = ({ side, gone, text }: SideLine) =>
        side === "base" && gone[mover] && isTelling(text) && elsewhere.has(text);
      return elsewhere.size > 0 && own.some(isMoved);
    });
  }
}

/** A blank line that one side took out. */
function isGoneBlank(line: SideLine | undefined): boolean {
  return line?.side === "base" && !isShared(line) && line.text.trim() === "";
}

function isShared(line: SideLine | undefined): boolean {
  return line?.side === "base" && !line.gone.mine && !line.gone.theirs;
}
