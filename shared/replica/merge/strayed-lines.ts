import { hasWord } from "../text/line-diff.ts";
import { Sections } from "../text/sections.ts";
import type { WritingSide } from "./moved-lines.ts";

/** Where in a merged text lines would stand as a side had them. */
interface FormerPlace {
  /** The index of the line before which they stood; the length of the text at its end. */
  readonly before: number;
  /** The index of a line beside which they stood. */
  readonly beside: number;
  readonly by: WritingSide;
}

/** Lines of a merged text under a heading under which nobody meant them. */
export interface StrayedLines {
  /** Their indices, [first, end). */
  readonly run: readonly [first: number, end: number];
  /** Undefined where nothing of their section stands any more. */
  readonly place: FormerPlace | undefined;
}

/** Lines that both sides have under one heading, and a merged text has not. */
export interface MissingLines extends FormerPlace {
  readonly lines: readonly string[];
}

/**
 * The lines, without their breaks, of four texts: what each side had before they met, what both
 * began with, as far as that is known, and the merged text.
 */
interface MetTextLines {
  readonly base?: readonly string[] | undefined;
  readonly merged: readonly string[];
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
}

/**
 * A merge of lines knows no sections. Where one side moves or renames one while the other writes
 * there, lines may come to stand under a heading that neither meant, and nothing else would tell:
 * a section that one put between another's new heading and its lines; what was added to one of two
 * sections that say the same, after the other side has changed their order.
 *
 * A line may stand under the heading under which a side had it, or under the heading that the other
 * side has over the lines beside it: that side may have renamed, split or joined the section. It
 * may not stand under the heading under which both sides began with it, if one side alone has moved
 * it to another: then the other side's move of the section has undone that.
 */
export function findStrayedLines({ base, merged, mine, theirs }: MetTextLines): StrayedLines[] {
  const sides = { mine: new Sections(mine), theirs: new Sections(theirs) };
  const [now, before] = [new Sections(merged), base && new Sections(base)];
  const found: (StrayedLines & { readonly mover: WritingSide | undefined })[] = [];
  for (const [at, text] of merged.entries()) {
    if (!hasWord(text)) continue;
    const mover = before && undoneMover(now, at, { ...sides, before });
    const undone = mover && movedPlaceOf(now, at, [mover, sides[mover]]);
    if (!undone && isMeant(now, at, sides)) continue;
    const place = undone ?? placeOf(now, at, sides);
    const last = found.at(-1);
    if (
      last &&
      isNext(now, last, at) &&
      !last.place === !place &&
      last.mover === (undone && mover) &&
      !merged.slice(last.run[1], at).some(hasWord)
    ) {
      found[found.length - 1] = { ...last, run: [last.run[0], at + 1] };
    } else found.push({ place, run: [at, at + 1], mover: undone && mover });
  }
  return found.map(({ place, run }) => ({ place, run: now.withFences(run) }));
}

/**
 * The side that alone moved a line to another section, if the line stands under its former heading
 * all the same. Only for a line that stands once in each text.
 */
function undoneMover(
  now: Sections,
  at: number,
  { before, ...sides }: Sides & { readonly before: Sections },
): WritingSide | undefined {
  const text = now.lines[at] ?? "";
  const over = (sections: Sections) => {
    const [place, ...others] = sections.places(text);
    return place === undefined || others.length > 0 ? undefined : (sections.over[place] ?? "");
  };
  const [here, former, mine, theirs] = [
    over(now),
    over(before),
    over(sides.mine),
    over(sides.theirs),
  ];
  if ([here, former, mine, theirs].includes(undefined)) return undefined;
  if (here !== former || (mine === former) === (theirs === former)) return undefined;
  return mine === former ? "theirs" : "mine";
}

function movedPlaceOf(
  now: Sections,
  at: number,
  [by, own]: readonly [WritingSide, Sections],
): FormerPlace | undefined {
  const [place = 0] = own.places(now.lines[at] ?? "");
  const found = besideIn(now, [own, place], (heading) => heading === own.over[place]);
  return found && { ...found, by };
}

/**
 * Finds lines that a merge took from the wrong section. Two sections say the same; one side took
 * lines out of one of them, and the other side changed the order of the two. The lines are then
 * gone from the section in which both sides still have them. `strayed`: lines that are told
 * already, because they stand elsewhere instead.
 */
export function findMissingLines(
  { merged, mine, theirs }: MetTextLines,
  strayed: readonly StrayedLines[],
): MissingLines[] {
  const [own, other, now] = [new Sections(mine), new Sections(theirs), new Sections(merged)];
  const told = new Set(strayed.flatMap(({ run }) => merged.slice(...run)));
  const found: (MissingLines & { readonly end: number })[] = [];
  for (const [at, text] of mine.entries()) {
    if (!hasWord(text) || told.has(text) || !own.isFirst(at)) continue;
    const heading = own.over[at] ?? "";
    const both = Math.min(own.count(text, heading), other.count(text, heading));
    if (now.count(text, heading) >= both) continue;
    const last = found.at(-1);
    const between = last && mine.slice(last.end, at);
    if (last && between && !between.some(hasWord) && own.over[last.end - 1] === heading) {
      const lines = [...last.lines, ...between, text];
      found[found.length - 1] = { ...last, lines, end: at + 1 };
      continue;
    }
    const place = besideIn(now, [own, at], (each) => each === heading);
    if (place) found.push({ ...place, by: "mine", lines: [text], end: at + 1 });
  }
  return found.map(({ end: _, ...each }) => each);
}

type Sides = Readonly<Record<WritingSide, Sections>>;

/** Whether lines of one run: they stand under one heading, with no word between. */
function isNext(now: Sections, { run }: StrayedLines, at: number): boolean {
  return now.over[run[0]] === now.over[at];
}

function isMeant(now: Sections, at: number, { mine, theirs }: Sides): boolean {
  const [text, heading] = [now.lines[at] ?? "", now.over[at] ?? ""];
  return (
    mine.places(text).some((own) => mayStandUnder(heading, [mine, own], theirs)) ||
    theirs.places(text).some((own) => mayStandUnder(heading, [theirs, own], mine))
  );
}

/** Whether a side's line may stand under a heading; see `findStrayedLines`. */
function mayStandUnder(
  heading: string,
  [own, at]: readonly [Sections, number],
  other: Sections,
): boolean {
  const former = own.over[at] ?? "";
  if (heading === former) return true;
  const beside = own.beside(at).flatMap((lines) => {
    return lines.find((each) => other.places(own.lines[each] ?? "").length > 0) ?? [];
  });
  // Nothing of its section is left on the other side. So a heading that this side does not have may
  // be the section's new name.
  if (beside.length === 0) return !own.hasHeading(heading);
  return beside.some((each) => {
    const headings = other.places(own.lines[each] ?? "").map((there) => other.headingAt(there));
    return !headings.includes(former) && headings.includes(heading);
  });
}

/** Where in the merged text a line would stand as one of the sides had it. */
function placeOf(now: Sections, at: number, { mine, theirs }: Sides): FormerPlace | undefined {
  const text = now.lines[at] ?? "";
  for (const [by, own, other] of [
    ["mine", mine, theirs] as const,
    ["theirs", theirs, mine] as const,
  ]) {
    for (const place of own.places(text)) {
      const found = besideIn(now, [own, place], (heading) => {
        return mayStandUnder(heading, [own, place], other);
      });
      if (found) return { ...found, by };
    }
  }
  return undefined;
}

/** Where a line's neighbours stand in the merged text under a heading that is right. */
function besideIn(
  now: Sections,
  [own, at]: readonly [Sections, number],
  isRight: (heading: string) => boolean,
): Omit<FormerPlace, "by"> | undefined {
  const [above, below] = own.beside(at);
  const findOf = (neighbours: readonly number[]) => {
    const found = neighbours.flatMap((each) => {
      return now.places(own.lines[each] ?? "").filter((there) => isRight(now.headingAt(there)));
    });
    return found[0];
  };
  const behind = findOf(above);
  if (behind !== undefined) {
    const isApart = own.lines[at - 1]?.trim() === "";
    return { beside: behind, before: isApart ? now.pastBlanks(behind + 1) : behind + 1 };
  }
  const ahead = findOf(below);
  return ahead === undefined ? undefined : { beside: ahead, before: ahead };
}
