import type { PlacedLines } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { placedWhole, type WholeLine } from "../../shared/replica/conflicts/whole-place.ts";
import { headingsIn } from "../../shared/replica/text/headings.ts";
import { isTelling, neighbourStart } from "../../shared/replica/text/neighbour-lines.ts";
import type { DecidedSave, Hunk } from "./decided-save.ts";
import { indicesFrom, isBlank } from "./line-runs.ts";

/** What both sides have in the places that a save and others disagree about, place by place. */
export interface WholeParts {
  readonly theirs: readonly PlacedLines[];
  readonly mine: readonly PlacedLines[];
}

/** Lines of the base and of the save, [from, to). */
interface Part {
  readonly base: LineRange;
  readonly save: LineRange;
}

type LineRange = readonly [from: number, to: number];

/**
 * All that either side has where a save undid something: of a section of which the save lacks all
 * but a line that others mended, the whole section. `kept`: lines of the base that stay;
 * `returned`: saved lines that others took out. Undefined where less than a section is in dispute,
 * which says all without what is around it, and where lines were moved: what one side has there is
 * not all that it has of them.
 */
export function wholeParts(
  save: DecidedSave,
  hunks: readonly Hunk[],
  { kept, returned }: { readonly kept: readonly number[]; readonly returned: readonly number[] },
): WholeParts | undefined {
  const found = hunks.map((hunk) => partsOf(save, hunk, { kept, returned }));
  if (found.every((parts) => !parts)) return undefined;
  const inOrder = joined(
    save,
    found.flatMap((parts, nth) => parts ?? partOf(hunks[nth] as Hunk)),
  );
  if (inOrder.some((part) => hasMoved(save, part))) return undefined;
  const around = inOrder.map(({ base }) => placeNames(save, inOrder, base));
  const gone = goneFrom(save);
  const placed = (lines: readonly WholeLine[], nth: number) =>
    placedWhole(lines, around[nth] ?? { behind: "", ahead: "" });
  const linesOf = (texts: readonly string[], [from, to]: LineRange, out: ReadonlySet<number>) =>
    indicesFrom(from, to - from).map((at) => ({ text: texts[at] ?? "", stands: !out.has(at) }));
  return {
    theirs: inOrder.map(({ base }, nth) => placed(linesOf(save.shown, base, gone), nth)),
    mine: inOrder.map(({ save: own }, nth) => placed(linesOf(save.after, own, save.leftOut), nth)),
  };
}

function partOf({ at, removed, from, added }: Hunk): Part {
  return { base: [at, at + removed], save: [from, from + added] };
}

/** Hunks between which no line stands by which their places can be told, together. */
export function neighboursIn({ shown }: DecidedSave, hunks: Iterable<Hunk>): Hunk[][] {
  const found: Hunk[][] = [];
  for (const hunk of [...hunks].sort((one, other) => one.at - other.at)) {
    const last = found.at(-1)?.at(-1);
    const between = last && shown.slice(last.at + last.removed, hunk.at);
    if (between && !between.some(isTelling)) found.at(-1)?.push(hunk);
    else found.push([hunk]);
  }
  return found;
}

/** In order; between two of them is a line by which their places can be told. */
function joined({ shown }: DecidedSave, parts: readonly Part[]): Part[] {
  const found: Part[] = [];
  for (const part of parts.toSorted((one, other) => one.base[0] - other.base[0])) {
    const last = found.at(-1);
    if (last && !shown.slice(last.base[1], part.base[0]).some(isTelling)) {
      const base = [last.base[0], part.base[1]] as const;
      found[found.length - 1] = { base, save: [last.save[0], part.save[1]] };
    } else found.push(part);
  }
  return found;
}

/** Undefined where it is not a section that one side took out, or that both wrote anew. */
function partsOf(
  save: DecidedSave,
  hunk: Hunk,
  { kept, returned }: { readonly kept: readonly number[]; readonly returned: readonly number[] },
): Part[] | undefined {
  const { at, removed, from, added } = hunk;
  const [base, own]: [LineRange, LineRange] = [
    [at, at + removed],
    [from, from + added],
  ];
  const isSaid = (lines: readonly string[], [first, end]: LineRange) =>
    lines.slice(first, end).some((line) => !isBlank(line));
  if (!isSaid(save.after, own)) {
    return sectionsOf(save.shown, base, kept)?.map((range) => {
      const isLast = range[1] === base[1];
      return pastBlanks(save, { base: range, save: isLast ? own : [own[1], own[1]] });
    });
  }
  if (!isSaid(save.shown, base)) {
    return sectionsOf(save.after, own, returned)?.map((range) => {
      const isLast = range[1] === own[1];
      return pastBlanks(save, { base: isLast ? base : [base[1], base[1]], save: range });
    });
  }
  const headings = [headingsWithin(save.shown, base), headingsWithin(save.after, own)];
  if (headings.some(({ length }) => length === 0)) return undefined;
  return [pastBlanks(save, { base, save: own })];
}

/**
 * The sections within a range that have some of these lines; neighbours are one. Undefined where
 * one of the lines is of a section whose heading is not in the range.
 */
function sectionsOf(
  lines: readonly string[],
  range: LineRange,
  wanted: readonly number[],
): LineRange[] | undefined {
  const [first, end] = range;
  const headings = headingsWithin(lines, range);
  const outermost = Math.min(...headings.map(([, level]) => level));
  const starts = headings.flatMap(([at, level], nth) =>
    nth === 0 || level === outermost ? [at] : [],
  );
  const within = wanted.filter((at) => first <= at && at < end);
  const found: [number, number][] = [];
  if (within.some((at) => at < (starts[0] ?? end) && !isBlank(lines[at] ?? ""))) return undefined;
  for (const [nth, start] of starts.entries()) {
    const [from, to] = [nth === 0 ? first : start, starts[nth + 1] ?? end];
    if (!within.some((at) => from <= at && at < to)) continue;
    const last = found.at(-1);
    if (last?.[1] === from) last[1] = to;
    else found.push([from, to]);
  }
  return found;
}

/** The headings among lines [from, to), each with how deep it is. */
function headingsWithin(lines: readonly string[], [from, to]: LineRange) {
  return [...headingsIn(lines)].filter(([at]) => from <= at && at < to);
}

/** With the lines behind it that say nothing and that both sides have. */
function pastBlanks({ shown, hunks }: DecidedSave, { base, save }: Part): Part {
  let count = 0;
  const isNext = (at: number) =>
    at < shown.length && !isTelling(shown[at] ?? "") && !hunks.some((each) => each.at === at);
  const isAtEnd = hunks.some(
    ({ at, removed, from, added }) => at + removed === base[1] && from + added === save[1],
  );
  while (isAtEnd && isNext(base[1] + count)) count++;
  return { base: [base[0], base[1] + count], save: [save[0], save[1] + count] };
}

/** Whether a side has elsewhere what it lacks here. */
function hasMoved({ shown, after, hunks, leftOut, moved }: DecidedSave, { base, save }: Part) {
  const isIn = (at: number, [from, to]: LineRange) => from <= at && at < to;
  const own = indicesFrom(save[0], save[1] - save[0]);
  if (own.some((at) => leftOut.has(at) || moved.has(at))) return true;
  const elsewhere = hunks.flatMap(({ from, added }) => indicesFrom(from, added));
  const put = new Set(elsewhere.flatMap((at) => (isIn(at, save) ? [] : (after[at] ?? []))));
  const kept = new Set(hunks.flatMap((hunk) => hunk.kept));
  const taken = hunks.flatMap(({ at, removed }) => indicesFrom(at, removed));
  const gone = taken.filter((at) => !kept.has(at));
  const lacks = new Set(gone.flatMap((at) => (isIn(at, base) ? [] : (shown[at] ?? []))));
  const isMovedAway = (at: number) => isTelling(shown[at] ?? "") && put.has(shown[at] ?? "");
  const isMovedHere = (at: number) => isTelling(after[at] ?? "") && lacks.has(after[at] ?? "");
  return indicesFrom(base[0], base[1] - base[0]).some(isMovedAway) || own.some(isMovedHere);
}

/** The base's lines that the save took out, by index. */
export function goneFrom({ hunks }: DecidedSave): ReadonlySet<number> {
  const gone = hunks.flatMap(({ at, removed, kept }) => {
    const stays = new Set(kept);
    return indicesFrom(at, removed).filter((each) => !stays.has(each));
  });
  return new Set(gone);
}

/** The lines around a part that stand whatever is chosen. */
function placeNames(save: DecidedSave, parts: readonly Part[], [from, to]: LineRange) {
  const { shown } = save;
  const gone = new Set(goneFrom(save));
  for (const { base } of parts) for (let at = base[0]; at < base[1]; at++) gone.add(at);
  const standing = (first: number, end: number) =>
    indicesFrom(first, end - first).flatMap((at) => (gone.has(at) ? [] : (shown[at] ?? [])));
  const before = standing(0, from);
  const behind = before.slice(neighbourStart(before, before.length)).join("");
  return { behind, ahead: standing(to, shown.length).find(isTelling) ?? "" };
}
