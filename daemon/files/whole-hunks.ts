import {
  type ContestedPlace,
  contestedPlaces,
} from "../../shared/replica/merge/contested-place.ts";
import type { SideLine } from "../../shared/replica/merge/side-lines.ts";
import type { DecidedSave } from "./decided-save.ts";
import { indicesFrom } from "./line-runs.ts";

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
  const { lines, shown, saved } = sideLinesOf(save);
  return contestedPlaces(lines).flatMap((place) => {
    const within = (indices: ReadonlyMap<SideLine, number>) =>
      new Set(place.lines.flatMap((line) => indices.get(line) ?? []));
    const section = { shown: within(shown), saved: within(saved) };
    const isMoved = [...section.saved].some((at) => save.leftOut.has(at) || save.moved.has(at));
    const isWhole = place.isSection || (place.hasHeading && isOneHunk(save, section));
    if (!place.hasGone || isMoved || !isWhole) return [];
    return [{ ...section, placed: (side) => place.placed(side) }];
  });
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
function sideLinesOf(save: DecidedSave) {
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
  for (const { at, removed, from, added, kept } of save.hunks) {
    for (; next < at; next++) add({ text: save.shown[next] ?? "", side: "base" });
    next = at + removed;
    for (const each of indicesFrom(at, removed)) shown.set(note(each, new Set(kept)), each);
    for (const each of indicesFrom(from, added)) {
      const text = save.after[each] ?? "";
      const isOld = save.returned.has(each) || save.leftOut.has(each);
      const side = isOld ? ({ side: "base", gone: { mine: false, theirs: true } } as const) : MINE;
      saved.set(add({ text, ...side }, !save.leftOut.has(each)), each);
    }
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
