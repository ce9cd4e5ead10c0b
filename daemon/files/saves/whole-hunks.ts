import {
  type ContestedPlace,
  contestedPlaces,
} from "../../../shared/replica/merge/contested-place.ts";
import type { SideLine } from "../../../shared/replica/merge/side-lines.ts";
import { isTelling } from "../../../shared/replica/text/neighbour-lines.ts";
import { indicesFrom } from "../lines/line-runs.ts";
import type { DecidedSave, Hunk } from "./decided-save.ts";

/** A place in which a save and others disagree about a section. */
export interface DisputedSection extends Pick<ContestedPlace, "placed"> {
  /** Which of its lines are the base's, and which the save's. */
  readonly shown: ReadonlySet<number>;
  readonly saved: ReadonlySet<number>;
}

/**
 * The places in which a save and others disagree about a section, heading and all: of one of which
 * the save lacks all but a line that others mended, each side has the whole. Less than a section
 * says all without what is around it, unless one hunk has its heading; and where lines were moved,
 * what one side has there is not all that it has of them.
 */
export function disputedSections(save: DecidedSave): DisputedSection[] {
  const whole = placesIn(save, save.hunks).filter(({ place }) => place.isSection);
  const isToldIn = (side: "shown" | "saved", indices: ReadonlySet<number>) =>
    whole.some((each) => [...indices].some((at) => each[side].has(at)));
  const put = new Set(
    save.hunks.flatMap(({ from, added }) => save.after.slice(from, from + added)),
  );
  const isPut = (line: string) => isTelling(line) && put.has(line);
  const undone = save.hunks.filter(({ at, removed, from, added, kept }) => {
    const own = indicesFrom(from, added);
    const isUndoing = own.some((each) => save.returned.has(each) || save.leftOut.has(each));
    // What is moved is known by where it was taken.
    return kept.length > 0 || isUndoing || save.shown.slice(at, at + removed).some(isPut);
  });
  const headed = placesIn(save, undone).filter((each) => {
    const isTold = isToldIn("shown", each.shown) || isToldIn("saved", each.saved);
    return !isTold && each.place.hasHeading && isOneHunk(save, each);
  });
  return [...whole, ...headed].map(({ place, shown, saved }) => {
    return { shown, saved, placed: (side) => place.placed(side) };
  });
}

/** Those of which one side has something that the other took out. `hunks`: the rest is agreed. */
function placesIn(save: DecidedSave, hunks: readonly Hunk[]) {
  const { lines, shown, saved } = sideLinesOf(save, new Set(hunks));
  const places = contestedPlaces(lines).map((place) => {
    const within = (indices: ReadonlyMap<SideLine, number>) =>
      new Set(place.lines.flatMap((line) => indices.get(line) ?? []));
    return { place, shown: within(shown), saved: within(saved) };
  });
  const isMoved = (at: number) => save.leftOut.has(at) || save.moved.has(at);
  return places.filter((each) => each.place.hasGone && ![...each.saved].some(isMoved));
}

function isOneHunk(
  { hunks }: DecidedSave,
  { shown, saved }: Pick<DisputedSection, "shown" | "saved">,
): boolean {
  const own = hunks.filter(({ at, removed, from, added }) => {
    const isThere = indicesFrom(at, removed).some((each) => shown.has(each));
    return isThere || indicesFrom(from, added).some((each) => saved.has(each));
  });
  return own.length === 1;
}

/**
 * The lines of the save (`mine`), of others and of what both began with, as far as that is known:
 * what others deleted and the save lacks, too, is nowhere.
 */
function sideLinesOf(save: DecidedSave, disputed: ReadonlySet<Hunk>) {
  const lines: SideLine[] = [];
  const [shown, saved] = [new Map<SideLine, number>(), new Map<SideLine, number>()];
  const add = (line: Pick<SideLine, "text" | "side"> & Partial<SideLine>, stands = true) => {
    const from = lines.length;
    const whole = { gone: NOBODY, from, to: stands ? from + 1 : from, ...line };
    lines.push(whole);
    return whole;
  };
  const note = (at: number, kept: ReadonlySet<number>) => {
    const text = save.shown[at] ?? "";
    if (save.bringerOf(at)) return add({ text, side: "theirs" }, kept.has(at));
    // A blank line may stay with those beside it: the save has its own.
    return add({ text, side: "base", gone: { mine: true, theirs: false } }, kept.has(at));
  };
  let next = 0;
  for (const hunk of save.hunks) {
    const { at, removed, from, added, kept } = hunk;
    for (; next < at; next++) add({ text: save.shown[next] ?? "", side: "base" });
    next = at + removed;
    if (!disputed.has(hunk)) {
      for (const each of indicesFrom(from, added))
        add({ text: save.after[each] ?? "", side: "base" });
      continue;
    }
    const stays = new Set(kept);
    const first = Math.min(...kept, next);
    for (const each of indicesFrom(at, first - at)) shown.set(note(each, stays), each);
    for (const each of indicesFrom(from, added)) {
      const text = save.after[each] ?? "";
      const isOld = save.returned.has(each) || save.leftOut.has(each);
      const side = isOld ? ({ side: "base", gone: { mine: false, theirs: true } } as const) : MINE;
      saved.set(add({ text, ...side }, !save.leftOut.has(each)), each);
    }
    // What a save adds stands before what stays.
    for (const each of indicesFrom(first, next - first)) shown.set(note(each, stays), each);
  }
  for (; next < save.shown.length; next++) add({ text: save.shown[next] ?? "", side: "base" });
  return { lines, shown, saved };
}

const NOBODY = { mine: false, theirs: false };
const MINE = { side: "mine" } as const;

/** The base's lines that the save took out, by index. */
export function goneFrom({ hunks }: DecidedSave): ReadonlySet<number> {
  const gone = hunks.flatMap(({ at, removed, kept }) => {
    const stays = new Set(kept);
    return indicesFrom(at, removed).filter((each) => !stays.has(each));
  });
  return new Set(gone);
}
