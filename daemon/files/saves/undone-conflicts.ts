import type {
  NewTextConflict,
  NewVersion,
  PlacedLines,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import { isTelling } from "../../../shared/replica/text/neighbour-lines.ts";
import { withGaps } from "../../../shared/replica/text/with-gaps.ts";
import type { Arrival } from "../arrivals/arrivals.ts";
import { indicesFrom, isBlank } from "../lines/line-runs.ts";
import { joinedText, placedRuns } from "../lines/placed-runs.ts";
import type { DecidedSave, Hunk } from "./decided-save.ts";
import { disputedSections, goneFrom } from "./whole-hunks.ts";

/** What a save undid of one change by others, as indices of the base's and of the saved lines. */
export interface Undone {
  /** In the base: lines that stay, and their hunks. */
  readonly kept: number[];
  readonly hunks: Set<Hunk>;
  /** In the save: lines that return. */
  readonly returned: number[];
  /** Those of them that the save has mended. */
  readonly mended: Set<number>;
  /** The base's lines in the place of which some of them are: what was joined to that. */
  readonly joinedTo: Map<number, number>;
  /**
   * Lines that others moved and that the save has at their former place: in the base, and in the
   * save.
   */
  readonly putByOthers: { readonly stands: number[]; readonly wanted: number[] };
  /** Lines that the save moved: from where in the base, to where in the save. */
  readonly shifted: { readonly from: number[]; readonly to: number[] };
}

export function nothingUndone(): Undone {
  return {
    kept: [],
    hunks: new Set(),
    returned: [],
    mended: new Set(),
    joinedTo: new Map(),
    putByOthers: { stands: [], wanted: [] },
    shifted: { from: [], to: [] },
  };
}

/** One conflict for everything that a save undid of one change in the same way. */
export function conflictsOf(
  save: DecidedSave,
  arrival: Arrival,
  undone: Undone,
): NewTextConflict[] {
  return new Telling(save, arrival, undone).conflicts();
}

class Telling {
  readonly #save: DecidedSave;
  readonly #undone: Undone;
  readonly #mine: Pick<NewVersion, "machine" | "home" | "at">;
  readonly #theirs: Pick<NewVersion, "machine" | "at">;
  /** The base's blank lines that stay, unless another change brought them. */
  readonly #keptBlanks: ReadonlySet<number>;

  constructor(save: DecidedSave, arrival: Arrival, undone: Undone) {
    this.#save = save;
    this.#undone = undone;
    this.#mine = { ...save.author, at: save.savedAt };
    this.#theirs = { machine: arrival.machine, at: arrival.at };
    const blanks = save.hunks.flatMap(({ kept }) => {
      return kept.filter((at) => isBlank(save.shown[at] as string));
    });
    const isOthers = (at: number) => ![undefined, arrival].includes(save.bringerOf(at));
    this.#keptBlanks = new Set(blanks.filter((at) => !isOthers(at)));
  }

  conflicts(): NewTextConflict[] {
    return [this.#undoneLines(), this.#putByOthers(), this.#shifted()].flat();
  }

  /** What is in dispute as whole sections, and then what is left. */
  #undoneLines(): NewTextConflict[] {
    const { kept, hunks, returned } = this.#undone;
    if (kept.length + returned.length === 0) return [];
    const whole = disputedSections(this.#save).filter(({ shown, saved }) => {
      return kept.some((at) => shown.has(at)) || returned.some((at) => saved.has(at));
    });
    const isOf = (side: "shown" | "saved", at: number) => whole.some((each) => each[side].has(at));
    const left = kept.filter((at) => !isOf("shown", at));
    const told = [...hunks].filter((hunk) => hunk.kept.some((at) => left.includes(at)));
    const beside = new Set(told.flatMap(({ from, added }) => indicesFrom(from, added)));
    const alone = returned.filter((at) => !isOf("saved", at) && !beside.has(at));
    const added = [...beside].filter((at) => !isOf("saved", at));
    const placed = (side: "theirs" | "mine") => whole.map((each) => each.placed(side));
    return [
      ...(whole.length > 0 ? [this.#unseen(placed("theirs"), placed("mine"))] : []),
      ...(left.length > 0
        ? [this.#unseen(this.#standing(left), this.#addedIn(added, new Set(told)))]
        : []),
      ...(alone.length > 0 ? [this.#returned(alone)] : []),
    ];
  }

  /** Lines that others took out, against what a choice of that leaves of them. */
  #returned(lines: readonly number[]): NewTextConflict {
    const rest = lines.flatMap((at) => this.#undone.joinedTo.get(at) ?? []);
    const saved = this.#inSave(lines, this.#comeWith(lines));
    const { kind, versions } = this.#unseen(this.#inBase(rest, new Set()), saved);
    if (rest.length === 0) return { kind, versions };
    return { kind, versions: [versions[0], { ...versions[1], isStanding: true }] };
  }

  /** Lines of the base that stay, at places that are named by what stays. */
  #standing(indices: readonly number[]): PlacedLines[] {
    const gone = goneFrom(this.#save);
    const all = indicesFrom(0, this.#save.shown.length).filter((at) => !gone.has(at));
    const nth = new Map(all.map((at, place) => [at, place]));
    const blanks = [...this.#keptBlanks].flatMap((at) => nth.get(at) ?? []);
    const texts = all.map((at) => this.#save.shown[at] as string);
    return placedRuns(
      indices.flatMap((at) => nth.get(at) ?? []),
      texts,
      new Set(blanks),
    );
  }

  #unseen(theirs: readonly PlacedLines[], mine: readonly PlacedLines[]): NewTextConflict {
    const versions = [
      { ...this.#theirs, ...versionOf(theirs) },
      { ...this.#mine, ...versionOf(mine) },
    ] as const;
    return { kind: "unseen", versions };
  }

  #putByOthers(): NewTextConflict[] {
    const { stands, wanted } = this.#undone.putByOthers;
    if (wanted.length === 0) return [];
    const [here, there] = [
      this.#inBase(stands, this.#keptBlanks),
      this.#inSave(wanted, this.#save.leftOut),
    ];
    return [
      {
        kind: "moved",
        versions: [
          { ...this.#theirs, ...versionOf(here), isStanding: true },
          { ...this.#mine, ...versionOf(there) },
        ],
      },
    ];
  }

  #shifted(): NewTextConflict[] {
    const { from, to } = this.#undone.shifted;
    if (from.length === 0) return [];
    const removed = this.#save.hunks.flatMap(({ at, removed: count, kept }) => {
      const stays = new Set(kept);
      return indicesFrom(at, count).filter((each) => !stays.has(each));
    });
    const [there, here] = [
      this.#inBase(from, new Set(removed)),
      this.#inSave(to, this.#comeWith(to)),
    ];
    return [
      {
        kind: "moved",
        versions: [
          { ...this.#theirs, ...versionOf(there) },
          { ...this.#mine, ...versionOf(here), isStanding: true },
        ],
      },
    ];
  }

  #inBase(indices: readonly number[], along: ReadonlySet<number>): PlacedLines[] {
    return placedRuns(indices, this.#save.shown, along);
  }

  #inSave(indices: readonly number[], along: ReadonlySet<number>): PlacedLines[] {
    return placedRuns(indices, this.#save.after, along);
  }

  /** What the save put where it left something out, and did not only take from elsewhere. */
  #addedIn(indices: readonly number[], hunks: ReadonlySet<Hunk>): PlacedLines[] {
    const { leftOut, moved, after } = this.#save;
    const taken = this.#takenElsewhere(hunks);
    const isTaken = (at: number) => taken.has(after[at] as string);
    const isGap = (at: number, beside: number) =>
      isBlank(after[at] as string) && Math.abs(at - beside) === 1;
    const gone = withGaps(indices, isTaken, isGap);
    const open = indices.filter((at) => !leftOut.has(at) && !moved.has(at) && !gone.has(at));
    const isOwn = indices.some(isTaken) ? isTelling : (line: string) => !isBlank(line);
    return open.some((at) => isOwn(after[at] as string)) ? this.#inSave(open, new Set()) : [];
  }

  /** What the save took out elsewhere: where it has that again, it moved it. */
  #takenElsewhere(hunks: ReadonlySet<Hunk>): ReadonlySet<string> {
    const others = this.#save.hunks.filter((hunk) => !hunks.has(hunk));
    const gone = others.flatMap(({ at, removed, kept }) =>
      indicesFrom(at, removed).filter((each) => !kept.includes(each)),
    );
    return new Set(gone.map((at) => this.#save.shown[at] as string).filter(isTelling));
  }

  /** Blank lines that the save has beside these lines only because of them. */
  #comeWith(lines: readonly number[]): ReadonlySet<number> {
    const { leftOut } = this.#save;
    const gone = new Set([...lines, ...leftOut]);
    const all = this.#save.hunks.flatMap((hunk) => {
      const along = this.#blanksOf(hunk, gone);
      // As many blank lines as were there before replace those.
      return along.slice(this.#removedBlanks(hunk));
    });
    return new Set(all);
  }

  #removedBlanks({ at, removed, kept }: Hunk): number {
    const blank = indicesFrom(at, removed).filter((each) =>
      isBlank(this.#save.shown[each] as string),
    );
    return blank.length - kept.filter((each) => isBlank(this.#save.shown[each] as string)).length;
  }

  #blanksOf({ from, added }: Hunk, gone: ReadonlySet<number>): number[] {
    const { after } = this.#save;
    const along: number[] = [];
    const end = from + added;
    for (let start = from, stop = from; start < end; start = stop + 1) {
      stop = start;
      while (stop < end && (gone.has(stop) || isBlank(after[stop] as string))) stop++;
      const stretch = indicesFrom(start, stop - start);
      const edges = { isFirst: start === from, isLast: stop === end };
      along.push(...blanksBetween(stretch, (each) => gone.has(each), edges));
    }
    return along;
  }
}

/**
 * Which blank lines of a stretch go with the lines that go: all but the larger group on one side,
 * which separates what stays. On a side where no added line stays, the former text has its own
 * blank lines.
 */
function blanksBetween(
  stretch: readonly number[],
  goes: (at: number) => boolean,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): readonly number[] {
  const [first, last] = [stretch.findIndex(goes), stretch.findLastIndex(goes)];
  if (first === -1) return [];
  const blank = stretch.filter((at) => !goes(at));
  const [before, behind] = [stretch.slice(0, first), stretch.slice(last + 1)];
  const isAtFirst = isFirst && (isLast || before.length === 0);
  if (isAtFirst || (isLast && behind.length === 0)) return blank;
  const stays = before.length >= behind.length ? before : behind;
  return blank.filter((at) => !stays.includes(at));
}

function versionOf(places: readonly PlacedLines[]) {
  return { text: joinedText(places), places };
}
