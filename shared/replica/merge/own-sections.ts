import { isTelling } from "../text/neighbour-lines.ts";
import type { Followed } from "./followed-moves.ts";
import type { WritingSide } from "./moved-lines.ts";
import { SideHeadings } from "./side-headings.ts";
import { hunksOf, type SideHunk } from "./side-hunks.ts";
import { isOfSide, type SideLine } from "./side-lines.ts";

/**
 * Both sides wrote between the same two lines, and one of them wrote a heading there. (A diff also
 * says so of a line that was moved over the heading.) The merge puts the two in an order that
 * nobody meant, so lines may stand under a heading under which neither side had them. They go under
 * the heading under which their side had them, beside what they replaced. Where the sides disagree
 * about a line, nothing is moved: the conflict is told where the lines stand. `disputed`: the lines
 * of open conflicts.
 */
export function findOwnSections(
  lines: readonly SideLine[],
  disputed: ReadonlySet<string>,
): Followed[] {
  const headings = new SideHeadings(lines);
  if (headings.all.size === 0) return [];
  return (["mine", "theirs"] as const).flatMap((writer) => {
    const gap = new HeadedGaps(lines, headings, writer);
    return hunksOf(lines, writer).flatMap((hunk) => {
      const isOpen = [...hunk.removed, ...hunk.added].some(({ text }) => {
        return disputed.has(text.replace(/\n$/, ""));
      });
      return isOpen ? [] : (gap.moveOf(hunk) ?? []);
    });
  });
}

/**
 * What the other side wrote in the same gaps between lines of the base, if a heading is among it.
 */
class HeadedGaps {
  readonly #lines: readonly SideLine[];
  readonly #headings: SideHeadings;
  readonly #writer: WritingSide;
  readonly #other: WritingSide;
  readonly #indexOf: ReadonlyMap<SideLine, number>;
  readonly #names: Readonly<Record<WritingSide, ReadonlyMap<SideLine, string>>>;
  /** What the other side wrote, and what both took away. */
  readonly #contested: ReadonlySet<string>;

  constructor(lines: readonly SideLine[], headings: SideHeadings, writer: WritingSide) {
    this.#lines = lines;
    this.#headings = headings;
    this.#writer = writer;
    this.#other = writer === "mine" ? "theirs" : "mine";
    this.#indexOf = new Map(lines.map((line, at) => [line, at]));
    const all = headings.all;
    this.#names = {
      mine: formerNames(lines, all, "mine"),
      theirs: formerNames(lines, all, "theirs"),
    };
    const isContested = ({ side, gone, text }: SideLine) =>
      isTelling(text) && (side === this.#other || (side === "base" && gone.mine && gone.theirs));
    this.#contested = new Set(lines.filter(isContested).map(({ text }) => text));
  }

  moveOf({ removed, added, before, after }: SideHunk): Followed | undefined {
    const own = this.#leadOf(added);
    const all = [...own, ...removed].filter(({ text }) => isTelling(text));
    const isOne = all.every(({ text }) => text.endsWith("\n") && !this.#contested.has(text));
    const isKept = removed.every((line) => !isTelling(line.text) || !line.gone[this.#other]);
    const first = this.#indexOf.get(own[0] as SideLine);
    if (first === undefined || !isOne || !isKept) return undefined;
    const from = before ? (this.#indexOf.get(before) ?? -1) + 1 : 0;
    const to = after ? (this.#indexOf.get(after) ?? 0) : this.#lines.length;
    const gap = this.#lines.slice(from, to);
    if (gap.some(({ side }) => side === "mixed")) return undefined;
    const starts = [...gap.keys()].flatMap((nth) => {
      const isTheirs = gap[nth]?.side === this.#other;
      return isTheirs && this.#headings.level(from + nth) !== undefined ? [from + nth] : [];
    });
    if (starts.length === 0) return undefined;
    const parts = [from, ...starts].map((start, nth) => [start, starts[nth] ?? to] as const);
    const wanted = this.#nameOver(first, this.#writer);
    const fitting = parts.filter(([, end]) => this.#nameOver(end, this.#other) === wanted);
    const [part, ...more] = fitting;
    if (!part || more.length > 0 || (part[0] <= first && first < part[1])) return undefined;
    return { lines: own, replaced: [], at: this.#placeIn(part, removed) };
  }

  /**
   * What a side wrote before the first heading of its own, without blank lines behind. The fence
   * that ends a block goes with it.
   */
  #leadOf(added: readonly SideLine[]): readonly SideLine[] {
    const heading = added.findIndex((line) => this.#headings.all.has(line));
    const lead = heading === -1 ? added : added.slice(0, heading);
    if (!lead.some(({ text }) => isTelling(text))) return [];
    return lead.slice(0, lead.findLastIndex(isShown) + 1);
  }

  /** The former name of the section under which a side would have what stands at an index. */
  #nameOver(at: number, by: WritingSide): string {
    for (let each = at - 1; each >= 0; each--) {
      const line = this.#lines[each] as SideLine;
      if (this.#headings.level(each) === undefined || !isOfSide(line, by)) continue;
      return this.#names[by].get(line) ?? line.text;
    }
    return "";
  }

  /**
   * Where in the visible text lines go: to what they replaced, or behind what the other side has
   * there.
   */
  #placeIn([from, to]: readonly [number, number], removed: readonly SideLine[]): number {
    const isIn = (at: number) => from <= at && at < to;
    const former = removed.find((line) => {
      return isTelling(line.text) && isIn(this.#indexOf.get(line) ?? -1);
    });
    if (former) return former.from;
    const part = this.#lines.slice(from, to);
    const said = part.findLastIndex(({ side, text }) => side === this.#other && isTelling(text));
    const isHeading = said !== -1 && this.#headings.level(from + said) !== undefined;
    const isTheirs = (line: SideLine) => line.side === this.#other && (isHeading || isShown(line));
    const last = said === -1 ? undefined : part.findLast(isTheirs);
    return last?.to ?? this.#lines[from - 1]?.to ?? 0;
  }
}

function isShown({ text }: SideLine): boolean {
  return text.trim() !== "";
}

/** The former names of the headings that a side wrote in the place of others. */
function formerNames(
  lines: readonly SideLine[],
  headings: ReadonlySet<SideLine>,
  by: WritingSide,
): ReadonlyMap<SideLine, string> {
  const pairs = hunksOf(lines, by).flatMap(({ removed, added }) => {
    const [were, are] = [removed, added].map((own) => own.filter((line) => headings.has(line)));
    if (!were || were.length !== are?.length) return [];
    return are.map((line, nth) => [line, were[nth]?.text ?? ""] as const);
  });
  return new Map(pairs);
}
