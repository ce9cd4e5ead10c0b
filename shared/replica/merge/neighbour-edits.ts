import { isFence } from "../text/code-blocks.ts";
import { comparedWords, likeness } from "../text/likeness.ts";
import { isTelling } from "../text/neighbour-lines.ts";
import type { WritingSide } from "./moved-lines.ts";
import { SideHeadings } from "./side-headings.ts";
import { hunksOf } from "./side-hunks.ts";
import type { SideLine } from "./side-lines.ts";

/** What one side wrote beside lines that the other side changed. */
export interface NeighbourEdit {
  readonly lines: readonly SideLine[];
  /** Where it belongs in the visible text; undefined where it stands there already. */
  readonly at: number | undefined;
}

/**
 * Finds what two sides did to neighbouring lines, where it is sure that these are different ones:
 * each line that is gone was mended, by one side alone, and is known in what was made of it; and no
 * two wrote more between the same two lines. The text has all of it then, and nobody disagrees. A
 * heading with another name is that heading, and a fence in the place of one begins the same block.
 *
 * Where a new line is as alike to another line as to the one in whose place it stands, it may have
 * been made of that, or say the same: then both readings are possible, and this finds nothing. So
 * where a side deleted a line, made one of several, or wrote a section. `disputed`: the lines of
 * open conflicts.
 */
export function findNeighbourEdits(
  lines: readonly SideLine[],
  disputed: ReadonlySet<string>,
): NeighbourEdit[] {
  const headings = new SideHeadings(lines).all;
  const isOpen = ({ text }: SideLine) => disputed.has(text.replace(/\n$/, ""));
  return changedTogether(lines).flatMap((group) => {
    return group.some(isOpen) ? [] : editsOf(group, headings);
  });
}

const SIDES: readonly WritingSide[] = ["mine", "theirs"];

/** The runs of lines of which each was written or deleted by somebody, and some by either side. */
function changedTogether(lines: readonly SideLine[]): SideLine[][] {
  const groups: SideLine[][] = [[]];
  for (const line of lines) {
    const isShared = line.side === "base" && !line.gone.mine && !line.gone.theirs;
    if (isShared) groups.push([]);
    else groups.at(-1)?.push(line);
  }
  return groups.filter((group) => SIDES.every((by) => group.some(({ side }) => side === by)));
}

/** A line, and what one side made of it. */
interface Mended {
  readonly was: SideLine;
  readonly is: SideLine;
}

/**
 * What one side wrote between two lines of the base; with no line of the base, beside the group.
 */
interface Written {
  readonly by: WritingSide;
  readonly lines: readonly SideLine[];
  readonly before: SideLine | undefined;
  readonly after: SideLine | undefined;
}

function editsOf(group: readonly SideLine[], headings: ReadonlySet<SideLine>): NeighbourEdit[] {
  const isUnclear = ({ side, gone, text }: SideLine) =>
    side === "mixed" || (gone.mine && gone.theirs) || !text.endsWith("\n");
  if (group.some(isUnclear)) return [];
  const { mended, written } = changesIn(group);
  const gone = group.filter(({ side }) => side === "base");
  if (mended.length === 0 || mended.length < gone.length) return [];
  const areTogether = ({ by, before }: Written) =>
    written.some((other) => other.by !== by && other.before === before);
  const isSection = ({ lines }: Written) => lines.some((line) => headings.has(line));
  if (written.some((each) => areTogether(each) || isSection(each))) return [];
  const isNamed = ({ was, is }: Mended) => headings.has(was) && headings.has(is);
  if (!areKnown(mended, written, isNamed)) return [];
  return [
    ...mended.map((each) => ({ lines: [each.is], at: aheadOf(group, each, mended) })),
    ...written.map((each) => ({ lines: each.lines, at: placeOf(group, each, mended) })),
  ];
}

/**
 * The changes in a group: as many of a side's lines are changed ones as it took lines away, and the
 * rest is new.
 */
function changesIn(group: readonly SideLine[]) {
  const [mended, written]: [Mended[], Written[]] = [[], []];
  for (const by of SIDES) {
    for (const { removed, added, before, after } of hunksOf(group, by)) {
      const rest = added.slice(removed.length);
      for (const [nth, was] of removed.entries()) {
        const is = added[nth];
        if (is) mended.push({ was, is });
      }
      if (rest.length > 0)
        written.push({ by, lines: rest, before: removed.at(-1) ?? before, after });
    }
  }
  return { mended, written };
}

/** Whether each line is recognised in what was made of it, and in nothing else. */
function areKnown(
  mended: readonly Mended[],
  written: readonly Written[],
  isNamed: (each: Mended) => boolean,
): boolean {
  const rest = written.flatMap(({ lines }) => lines);
  const all = [...mended.flatMap(({ was, is }) => [was, is]), ...rest];
  const words = new Map(all.map((line) => [line, comparedWords(line.text)]));
  const alike = (one: SideLine, other: SideLine) =>
    likeness(words.get(one) ?? [], words.get(other) ?? []);
  return mended.every((each) => {
    const { was, is } = each;
    if (isFence(was.text) && isFence(is.text)) return true;
    if (!isTelling(was.text) || !isTelling(is.text)) return was.text === is.text;
    const own = alike(was, is);
    if (own === 0 && !isNamed(each)) return false;
    const others = mended.flatMap((other) => (other === each ? [] : other.was));
    const isOther = (likely: number) => likely === 0 || likely < own;
    return (
      others.every((other) => isOther(alike(other, is))) &&
      rest.every((other) => isOther(alike(other, is)) && isOther(alike(other, was)))
    );
  });
}

/**
 * Where a mended line belongs that stands behind one which was made of a later line: two sides may
 * have put them between the same two characters.
 */
function aheadOf(
  group: readonly SideLine[],
  { was, is }: Mended,
  mended: readonly Mended[],
): number | undefined {
  const isBehind = (one: SideLine, other: SideLine) => group.indexOf(one) > group.indexOf(other);
  const passed = mended.filter((each) => isBehind(each.was, was) && isBehind(is, each.is));
  return passed.length === 0 ? undefined : Math.min(...passed.map((each) => each.is.from));
}

/** Where lines belong that were written between two others which the other side may have mended. */
function placeOf(
  group: readonly SideLine[],
  { lines, before, after }: Written,
  mended: readonly Mended[],
): number | undefined {
  const madeOf = (line: SideLine | undefined) => mended.find(({ was }) => was === line)?.is;
  const [above, below] = [madeOf(before), madeOf(after)];
  const [first, last] = [lines[0], lines.at(-1)];
  const isBefore = (one: SideLine | undefined, other: SideLine | undefined) =>
    !one || !other || group.indexOf(one) < group.indexOf(other);
  const [isBehind, isAhead] = [isBefore(above, first), isBefore(last, below)];
  return isBehind && isAhead ? undefined : (below?.from ?? above?.to);
}
