import { type Author, isSameMachine } from "../document/author.ts";
import { LinesByWord } from "../text/likeness.ts";
import { diffLines, hasWord, type LineHunk } from "../text/line-diff.ts";
import { isTelling, lineAhead, namesSamePlace, neighbourStart } from "../text/neighbour-lines.ts";
import { holdsAnyLine, holdsLines } from "../text/standing-lines.ts";
import { plainLines } from "../text/text-form.ts";
import { isEndedBy, isOver } from "./over-conflict.ts";
import {
  type NewTextConflict,
  type NewVersion,
  type PlacedLines,
  REPLACING,
  type TextConflictRecord,
  type TextVersion,
} from "./text-conflict-record.ts";

/** An edit of a whole text. */
interface WholeEdit {
  readonly before: string;
  readonly after: string;
  readonly by: Author;
  readonly at: number;
  /** Whether a large deletion is told by itself, with all that was deleted. */
  readonly isTold?: boolean;
}

/** A conflict that an edit has ended, and what takes its place. */
export interface EndedConflict {
  readonly record: TextConflictRecord;
  /** The conflict in its place. It may be the same one, noted as over unless an undo revives it. */
  readonly next: NewTextConflict;
}

/**
 * The conflicts that an edit has ended, with what takes their place. If the edit mended the lines
 * of one version, where they stood or while moving them, and the other version still counts, nobody
 * has chosen: what stands there now disagrees with the other version as the former lines did. The
 * same holds if it mended both versions, each by itself, as when it changes a mark of all lists or
 * a name everywhere. Taking the lines out, or putting one thing in the place of both versions, is a
 * choice, and so is an edit by the machine that wrote the other version. To be called with all
 * conflicts that the document has after the edit.
 */
export function findEnded(
  records: readonly TextConflictRecord[],
  { before, after, by, at, isTold = false }: WholeEdit,
): EndedConflict[] {
  const ended = records.filter((each) => isEndedBy(each, { before, after }));
  if (ended.length === 0) return [];
  const edit = new MendingEdit(before, after);
  const open = records.filter((each) => !ended.includes(each) && !isOver(each, after));
  const nextOne = (record: TextConflictRecord): NewTextConflict | undefined => {
    const [one, two] = record.versions;
    const pairs = [
      [one, two],
      [two, one],
    ] as const;
    const made = edit.madeOfEach(record);
    if (made) {
      const versionOf = (version: TextVersion, places: readonly PlacedLines[]) => {
        return { ...leftVersion(version), text: textOf(places), places };
      };
      return { kind: record.kind, versions: [versionOf(one, made[0]), versionOf(two, made[1])] };
    }
    for (const [version, other] of pairs) {
      if (isBy(other, by) || !isLeft(record, other, after)) continue;
      const places = edit.madeOf(version, other);
      const text = textOf(places);
      if (text === "" || open.some(({ versions }) => isToldBy(versions, text))) continue;
      return nextOf(record, other, { text, ...by, at, places });
    }
    if (isOver(record, after)) return undefined;
    // Clearing the whole text says nothing about the lines in dispute.
    return hasWord(after) || isTold
      ? { kind: "unseen", versions: [leftVersion(one), leftVersion(two)] }
      : undefined;
  };
  return ended.flatMap((record) => {
    const next = nextOne(record);
    return next ? [{ record, next }] : [];
  });
}

/** Without a name nobody knows that two writers are one machine. */
function isBy(version: TextVersion, by: Author): boolean {
  return version.machine !== undefined && isSameMachine(version, by);
}

/**
 * Whether a version still counts: its lines stand, or, if it has none, nothing stands in their
 * place.
 */
function isLeft({ kind }: TextConflictRecord, other: TextVersion, after: string): boolean {
  if (kind === "moved") return !other.isStanding;
  return other.text === "" || (!other.cut && holdsAnyLine(after, other.text));
}

function isToldBy(versions: TextConflictRecord["versions"], text: string): boolean {
  return versions.some((version) => holdsLines(version.text, text));
}

function nextOf(
  { kind }: TextConflictRecord,
  other: TextVersion,
  mended: NewTextConflict["versions"][0],
): NewTextConflict {
  if (kind === "moved")
    return { kind, versions: [{ ...mended, isStanding: true }, leftVersion(other)] };
  return { kind: other.text === "" ? "both" : "unseen", versions: [mended, leftVersion(other)] };
}

/** The version as it stands, for the record of a new conflict. */
export function leftVersion({ text, machine, home, at, places }: TextVersion): NewVersion {
  return {
    text,
    machine,
    ...(home !== undefined && { home }),
    ...(at !== undefined && { at }),
    ...(places.length > 0 && { places }),
  };
}

/** What an edit made of lines: in their place, or where it moved them. */
class MendingEdit {
  readonly #before: readonly string[];
  readonly #after: readonly string[];
  readonly #hunks: readonly LineHunk[];

  constructor(before: string, after: string) {
    this.#before = plainLines(before);
    this.#after = plainLines(after);
    this.#hunks = diffLines(this.#before, this.#after);
  }

  /** What the edit made of the lines that this version has and the other one has not. */
  madeOf(version: TextVersion, other: TextVersion): PlacedLines[] {
    const mended = this.#mended(version, other);
    return mended.length > 0 ? mended : this.#carriedOff(version, other);
  }

  /** What the edit made of each version, as far as it is certain of which one it was made. */
  madeOfEach({ kind, versions: [one, two] }: TextConflictRecord) {
    if (!REPLACING.includes(kind) || one.text === two.text) return undefined;
    const lines = this.#before.map((text, at) => ({ text, at }));
    const gone = new Set(this.#hunks.flatMap(({ at, removed }) => lines.slice(at, at + removed)));
    const byWord = new LinesByWord(lines);
    const madeOf = ([version, other]: readonly [TextVersion, TextVersion]) => {
      const others = plainLines(other.text);
      const own = new Set(plainLines(version.text).filter((line) => !others.includes(line)));
      return (text: string) => {
        const former = isTelling(text) ? byWord.mostAlike(text) : [];
        return former.length > 0 && former.every((line) => gone.has(line) && own.has(line.text));
      };
    };
    const [isOfOne, isOfTwo] = [madeOf([one, two]), madeOf([two, one])];
    const placesOf = (isOwn: (line: string) => boolean, isOthers: (line: string) => boolean) =>
      this.#hunks.flatMap(({ from, added: count }) => {
        const added = this.#after.slice(from, from + count);
        const first = added.findIndex(isOwn);
        const put = added.slice(Math.max(0, first), added.findLastIndex(isOwn) + 1);
        if (put.length === 0 || put.some(isOthers)) return [];
        const hunk = { from: from + first, added: put.length };
        return [this.#placed(put, hunk, (line) => !isOthers(line))];
      });
    const made = [placesOf(isOfOne, isOfTwo), placesOf(isOfTwo, isOfOne)] as const;
    return made.every((places) => places.length > 0) ? made : undefined;
  }

  #mended(version: TextVersion, other: TextVersion): PlacedLines[] {
    const [own, others] = [version, other].map(({ text }) => new Set(plainLines(text)));
    const isOwn = (line: string) => hasWord(line) && own?.has(line) === true;
    const isOthers = (line: string) => hasWord(line) && others?.has(line) === true;
    const isTwin = version.text === other.text;
    return this.#hunks.flatMap((hunk) => {
      const { at, removed, from, added } = hunk;
      if (!this.#before.slice(at, at + removed).some(isOwn)) return [];
      if (isTwin && !this.#isAt(hunk, version)) return [];
      const isApart = isTwin ? () => true : (line: string) => !isOthers(line);
      const lines = this.#after.slice(from, from + added).filter(isApart);
      const put = lines.slice(lines.findIndex(hasWord), lines.findLastIndex(hasWord) + 1);
      return put.length > 0 ? [this.#placed(put, hunk, isApart)] : [];
    });
  }

  /** Lines elsewhere that say the same, or were made of that: of a hunk, from first to last. */
  #carriedOff(version: TextVersion, other: TextVersion): PlacedLines[] {
    const own = new Set(plainLines(version.text).filter(isTelling));
    const others = new Set(plainLines(other.text));
    const isTwin = version.text === other.text;
    const lines = this.#before.map((text, at) => ({ text, at }));
    const gone = new Set(
      this.#hunks.flatMap((hunk) => {
        const removed = lines.slice(hunk.at, hunk.at + hunk.removed);
        return isTwin && !this.#isAt(hunk, version) ? [] : removed;
      }),
    );
    const byWord = new LinesByWord(lines);
    const isMade = (text: string) => {
      if (!isTelling(text) || (!isTwin && others.has(text))) return false;
      return byWord.mostAlike(text).some((line) => gone.has(line) && own.has(line.text));
    };
    return this.#hunks.flatMap((hunk) => {
      const added = this.#after.slice(hunk.from, hunk.from + hunk.added);
      const put = added.slice(added.findIndex(isMade), added.findLastIndex(isMade) + 1);
      const from = hunk.from + Math.max(0, added.findIndex(isMade));
      return put.length > 0 ? [this.#placed(put, { from, added: put.length }, () => true)] : [];
    });
  }

  /** Whether a hunk is where one of two versions of the same lines stood. */
  #isAt({ at }: LineHunk, { places }: TextVersion): boolean {
    const behind = linesOf(this.#before.slice(neighbourStart(this.#before, at), at));
    return places.some((place) => namesSamePlace(place.behind, behind));
  }

  /** The place is named by what stands around both versions: either may go. */
  #placed(
    put: readonly string[],
    { from, added }: Pick<LineHunk, "from" | "added">,
    isApart: (line: string) => boolean,
  ): PlacedLines {
    const before = this.#after.slice(0, from).filter(isApart);
    const rest = this.#after.slice(from + added).filter(isApart);
    const behind = before.slice(neighbourStart([...before, ...rest], before.length));
    const ahead = lineAhead(rest, 0);
    return { behind: linesOf(behind), text: linesOf(put), ahead: ahead && `${ahead}\n` };
  }
}

function textOf(places: readonly PlacedLines[]): string {
  return places.map(({ text }) => text).join("");
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
