import { isOver } from "../../../shared/replica/conflicts/over-conflict.ts";
import {
  fateOf,
  forgetTextConflict,
  HOLDING,
  listTextConflicts,
  type NewVersion,
  recordTextConflict,
  type TextConflictRecord,
  type TextVersion,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import { findWholePlace } from "../../../shared/replica/conflicts/whole-place.ts";
import { isSameMachine } from "../../../shared/replica/document/author.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { hasWord } from "../../../shared/replica/text/line-diff.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import { linesThatStay } from "../lines/line-runs.ts";

/**
 * The conflicts that hold a file: about what git set aside in it, and about what git brought into
 * it and the document never had. Nothing is written below either: the one could not be separated
 * from it, and of the other the next commit would take them back. Which they are the file's own
 * state says, and not the documents: a home may draw another id, two may have found one conflict,
 * and a copy has the id of the home that it was made of.
 */
export class HoldingConflicts {
  readonly #open: OpenDocument;
  readonly #ids: Set<string>;
  /** Those that a command has settled since the file was taken last. */
  readonly settled: readonly TextConflictRecord[];

  /**
   * `known`: those that held the file when it was taken last. One of which nothing is left in the
   * document is told again, unless what it is about has come about: somebody deleted its entry, or
   * it was too old, and neither says that lines are to leave the file.
   */
  constructor(
    open: OpenDocument,
    known: readonly TextConflictRecord[] | undefined,
    times: { readonly now: number; readonly time: number },
  ) {
    this.#open = open;
    this.#ids = new Set();
    const settled: TextConflictRecord[] = [];
    for (const conflict of known ?? namedAsHere(open)) {
      const fate = fateOf(open.document, conflict.id);
      if (fate === "settled") settled.push(conflict);
      else if (fate) this.#ids.add(conflict.id);
      else if (!isOver(conflict, open.document.content())) {
        this.#ids.add(recordTextConflict(open.document, newConflict(conflict), times));
      }
    }
    this.settled = settled;
  }

  /** Those of the ids that the file was found to be held by hold it from now on. */
  add(ids: readonly string[]): void {
    for (const id of ids) this.#ids.add(id);
  }

  /** All, also those that are over for as long as the text stays as it is. */
  get all(): TextConflictRecord[] {
    return listTextConflicts(this.#open.document).filter(
      ({ id, kind }) => this.#ids.has(id) && HOLDING.includes(kind),
    );
  }

  /** Whether one of them is open. */
  get isAny(): boolean {
    return this.#openOnes.length > 0;
  }

  /** The open ones about what git set aside. */
  get aside(): TextConflictRecord[] {
    return this.#openOnes.filter(({ kind }) => kind === "set-aside");
  }

  get #openOnes(): TextConflictRecord[] {
    const content = this.#open.document.content();
    return this.all.filter((conflict) => !isOver(conflict, content));
  }

  /**
   * Settles the conflicts about what git had set aside and the file has again: the lines, or their
   * deletion. A line that git put in their place, and that is in this file alone, keeps its
   * conflict open, whatever becomes of the others: it would be written over without having been
   * shown. Once there is none, the conflict says so.
   */
  settleAside(content: string): void {
    const { document } = this.#open;
    const lines = plainLines(content);
    const inDocument = plainLines(document.content());
    const stay = linesThatStay(lines, inDocument);
    // An equal line at another place is not the one that is meant.
    const alone = new Set(lines.filter((_, at) => !stay.has(at)));
    const written = new Set(stay.values());
    for (const conflict of this.aside) {
      // Of a version that was cut nobody knows all lines: somebody has to settle it.
      if (conflict.versions.some(({ cut }) => cut)) continue;
      const [stood, put] = [wordsOf(conflict, true), wordsOf(conflict, false)];
      if (put.some((line) => alone.has(line))) continue;
      const isMeant = placeIn(inDocument, conflict);
      const isBack = stood.every((line) => {
        const standing = inDocument.flatMap((each, at) => (each === line ? [at] : []));
        const there = standing.filter(isMeant);
        const meant = there.length > 0 ? there : standing;
        return lines.includes(line) && meant.every((at) => written.has(at));
      });
      if (!isBack && put.length === 0) continue;
      forgetTextConflict(document, conflict.id);
      if (!isBack) this.add([this.#recordWithoutPut(conflict)]);
    }
  }

  /** The same conflict, with nothing in the place of the lines that git took. */
  #recordWithoutPut(conflict: TextConflictRecord): string {
    const { kind, versions } = newConflict(conflict);
    const without = ({ text: _, places: __, ...who }: NewVersion): NewVersion => {
      return { text: "", ...who };
    };
    const left = (each: NewVersion) => (each.isStanding ? each : without(each));
    const [one, other] = versions;
    const record = { kind, versions: [left(one), left(other)] } as const;
    return recordTextConflict(this.#open.document, record, { now: conflict.foundAt });
  }
}

/** Open conflicts that name this machine, for a file of which nobody has kept which hold it. */
function namedAsHere({ document, author }: OpenDocument): TextConflictRecord[] {
  return listTextConflicts(document).filter(({ kind, versions }) => {
    return HOLDING.includes(kind) && versions.some((version) => isSameMachine(version, author));
  });
}

function newConflict({ kind, versions: [one, other] }: TextConflictRecord) {
  return { kind, versions: [newVersionOf(one), newVersionOf(other)] as const };
}

function newVersionOf({ text, machine, home, at, places, isStanding }: TextVersion): NewVersion {
  const who = { machine, home, ...(at !== undefined && { at }) };
  return { text, ...who, ...(places.length > 0 && { places }), isStanding };
}

/** The lines with a word of the version that stands, or of the other one. */
function wordsOf({ versions }: TextConflictRecord, stands: boolean): string[] {
  const meant = versions.filter(({ isStanding }) => isStanding === stands);
  return meant.flatMap(({ text }) => plainLines(text).filter(hasWord));
}

/** Whether a line of the document is where the version that stands has its place. */
function placeIn(
  lines: readonly string[],
  { versions }: TextConflictRecord,
): (at: number) => boolean {
  const places = versions.flatMap((each) => (each.isStanding ? each.places : []));
  const ranges = places.map((place) => findWholePlace(lines, [place]));
  return (at) => ranges.some((range) => !range || (range[0] <= at && at < range[1]));
}
