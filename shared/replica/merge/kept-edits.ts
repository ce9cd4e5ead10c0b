import type * as Y from "yjs";
import { endsHeading } from "../text/headings.ts";
import { holdsAny, type IdRanges } from "../text/id-ranges.ts";
import { hasWord } from "../text/line-diff.ts";
import { lineAhead, neighbourStart } from "../text/neighbour-lines.ts";
import { captureText, textRuns } from "../text/text.ts";
import { plainLines } from "../text/text-form.ts";
import { idAt, type TextSpan } from "../text/text-spans.ts";
import { type CrossedMove, findCrossedMoves, type TakenLines } from "./crossed-moves.ts";
import { type MergedLine, readMergedText } from "./merged-lines.ts";
import {
  type CarriedOff,
  linesTwice,
  type MovedLines,
  movedByOne,
  movedRuns,
  unionOfMoved,
  type WritingSide,
} from "./moved-lines.ts";
import { isAgain, NOTHING_AGAIN, type PutAgain } from "./put-again.ts";
import { findMissingLines, findStrayedLines } from "./strayed-lines.ts";

/** Lines that one side put where they stand, and that the other side wanted to be rid of. */
export interface KeptEdit {
  readonly by: WritingSide;
  /** Whole lines, each with its line break. */
  readonly text: string;
  /** The lines before them that name the place; "" at the beginning. */
  readonly behind: string;
  /** The first line with a word behind them; "" where there is none. */
  readonly ahead: string;
  /** Where the first of them begins in the visible text. */
  readonly at: number;
  /** The client that wrote them, if it is another one than put them there. */
  readonly writer?: number | undefined;
  /** How many blank lines behind them come with them; none where left out. */
  readonly after?: number;
}

/** Lines that both sides moved or wrote, and that stand at two places now. */
export type MovedTwice = Readonly<Record<WritingSide, readonly KeptEdit[]>>;

/**
 * Lines that the two sides have at different places. They stand at one of the two, or at neither.
 */
export interface MovedApart {
  readonly standing: KeptEdit;
  /** The same lines where another side had them. */
  readonly other: KeptEdit;
}

/** What has to be told of two sides that have met. */
export interface KeptOfSides {
  readonly edits: readonly KeptEdit[];
  readonly twice: MovedTwice | undefined;
  /** What both made of the same lines, at different places. */
  readonly rivals: MovedTwice | undefined;
  readonly apart: readonly MovedApart[];
  /** What stands under a heading under which neither side had it; see `findStrayedLines`. */
  readonly strayed: readonly MovedApart[];
  /** What both sides have at a place where it does not stand any more; see `findMissingLines`. */
  readonly missing: readonly KeptEdit[];
}

/** What two sides deleted of their common base. */
export interface DeletedBySides {
  readonly both: IdRanges;
  /**
   * What each side deleted, whether the other side deleted it, too, or not. For `theirs`, only what
   * was not deleted here before.
   */
  readonly mine: IdRanges;
  readonly theirs: IdRanges;
}

/** What two sides did to a text. */
export interface MetSides {
  /** The ids of the characters that each inserted, without any in common. */
  readonly mine: IdRanges;
  readonly theirs: IdRanges;
  readonly deleted: DeletedBySides;
  /** What each side took from where it stood, as far as that is known. */
  readonly taken?: TakenLines;
  /** What each side put again; see `PutAgain`. */
  readonly again?: PutAgain;
  /** The characters of lines that both sides wrote, and that stand once. */
  readonly met?: readonly TextSpan[];
  /** The whole text as each side had it, where that is known. */
  readonly texts?: SideTexts | undefined;
  /** What each side moved and mended of what both took away, as far as that is known. */
  readonly carried?: CarriedOff | undefined;
}

/** The whole text as each side had it, and what both began with, as far as that is known. */
export interface SideTexts extends Readonly<Record<WritingSide, string>> {
  readonly base: string | undefined;
}

/**
 * Finds what a merge keeps although one side did not want it. One side replaced lines that the
 * other deleted, moved such lines, or wrote between two of them. What it put there stays, although
 * the other side wanted to be rid of the place, or has it elsewhere. Also finds what the sides put
 * at two places, and what stands where only one side put it. `moved` is what `findMovedLines`
 * returned before the clean-up.
 */
export function findKeptEdits(
  ytext: Y.Text,
  { mine, theirs, deleted, taken, again = NOTHING_AGAIN, met = [], texts, carried }: MetSides,
  moved: MovedLines | undefined,
): KeptOfSides {
  const graves = {
    both: gravesOf(ytext, deleted.both),
    mine: gravesOf(ytext, deleted.mine),
    theirs: gravesOf(ytext, deleted.theirs),
  };
  const hasGraves = graves.both.size + graves.mine.size + graves.theirs.size > 0;
  const isByBoth = mine.size > 0 && theirs.size > 0;
  if (!hasGraves && !moved && !isByBoth && !texts)
    return {
      edits: [],
      twice: undefined,
      rivals: undefined,
      apart: [],
      strayed: [],
      missing: [],
    };
  const { lines } = readMergedText(ytext, mine, theirs);
  const isNew = newLines(ytext, { again, met });
  const inPlace = editsInPlace(lines, graves, isNew);
  const alone = movedEdits(lines, unionOfMoved(movedByOne(moved), carried?.alone));
  const twice = movedEdits(lines, linesTwice(lines, moved), withHeading);
  const rivals = rivalsIn(lines, carried, twice);
  const crossed = taken && isByBoth ? findCrossedMoves(lines, taken, graves) : [];
  // Everything that is part of lines that were moved twice is settled with these.
  const [inTwice, inRivals] = [sidesOf(twice), sidesOf(rivals)];
  const byOne = sidesOf(alone).filter((edit) => !isWithinAny(edit, inTwice));
  const edits = [...inPlace, ...byOne].filter((edit) => !isWithinAny(edit, inRivals));
  const told = [...edits, ...inTwice, ...inRivals];
  const apart = crossed.map((each) => movedApart(lines, each));
  const misplaced = texts ? findMisplaced(lines, texts) : { strayed: [], missing: [], left: [] };
  const known = saidBy([...told, ...apart.map(({ standing }) => standing)]);
  return {
    edits: [...edits, ...misplaced.left.filter((edit) => !isSaid(edit, known))],
    twice: twice.mine.length > 0 ? twice : undefined,
    rivals,
    apart,
    strayed: misplaced.strayed.filter(({ standing }) => !isSaid(standing, known)),
    missing: misplaced.missing.filter((edit) => !isSaid(edit, known)),
  };
}

/**
 * What stands of the lines that both sides made of the same ones; nothing if one side has none of
 * it.
 */
function rivalsIn(
  lines: readonly MergedLine[],
  carried: CarriedOff | undefined,
  twice: MovedTwice,
): MovedTwice | undefined {
  if (!carried) return undefined;
  const { mine, theirs } = movedEdits(lines, carried.apart);
  const inTwice = sidesOf(twice);
  const isOther = (edit: KeptEdit) => !isWithinAny(edit, inTwice);
  const rivals = { mine: mine.filter(isOther), theirs: theirs.filter(isOther) };
  return rivals.mine.length > 0 && rivals.theirs.length > 0 ? rivals : undefined;
}

function sidesOf(moved: MovedTwice | undefined): readonly KeptEdit[] {
  return moved ? [...moved.mine, ...moved.theirs] : [];
}

function isWithinAny({ at }: KeptEdit, edits: readonly KeptEdit[]): boolean {
  return edits.some((each) => each.at <= at && at < each.at + each.text.length);
}

/** The lines of these versions that have a word. */
export function saidBy(versions: readonly { readonly text: string }[]): ReadonlySet<string> {
  return new Set(versions.flatMap(({ text }) => plainLines(text)).filter(hasWord));
}

/** Whether an edit has no line with a word but these. */
export function isSaid({ text }: KeptEdit, said: ReadonlySet<string>): boolean {
  return plainLines(text).every((line) => said.has(line) || !hasWord(line));
}

function findMisplaced(
  lines: readonly MergedLine[],
  { base, mine, theirs }: SideTexts,
): Pick<KeptOfSides, "strayed" | "missing"> & { readonly left: readonly KeptEdit[] } {
  const merged = lines.map(({ text }) => text);
  const baseLines = base === undefined ? undefined : plainLines(base);
  const texts = { base: baseLines, merged, mine: plainLines(mine), theirs: plainLines(theirs) };
  const found = findStrayedLines(texts);
  const strayed = found.flatMap(({ run, place }): MovedApart[] => {
    if (!place) return [];
    const { before, beside, by } = place;
    const after = blanksAfter(merged, run);
    const isOwn = lines[run[0]]?.side === by;
    const at = lines[isOwn ? run[0] : beside]?.from ?? 0;
    const other = placedBefore(lines, by, { run, beside: before });
    return [{ standing: { ...keptEdit(lines, by, run), after }, other: { ...other, at, after } }];
  });
  const left = found.flatMap(({ run, place }) => {
    const side = lines[run[0]]?.side;
    return place ? [] : [keptEdit(lines, side === "mine" ? "mine" : "theirs", run)];
  });
  const missing = findMissingLines(texts, found).map(({ lines: gone, before, beside, by }) => {
    const text = gone.map((line) => `${line}\n`).join("");
    return { ...keptEdit(lines, by, [before, before]), text, at: lines[beside]?.from ?? 0 };
  });
  return { strayed, missing, left };
}

function movedApart(
  lines: readonly MergedLine[],
  { by, standing, beside }: CrossedMove,
): MovedApart {
  const texts = lines.map(({ text }) => text);
  const after = blanksAfter(texts, standing);
  const there = { ...keptEdit(lines, by, standing), after };
  const other = placedBefore(lines, by === "mine" ? "theirs" : "mine", { run: standing, beside });
  return { standing: there, other: { ...other, at: lines[beside]?.from ?? 0, after } };
}

/** The lines of a run as if they stood before the line `beside`. */
function placedBefore(
  lines: readonly MergedLine[],
  by: WritingSide,
  {
    run: [first, end],
    beside,
  }: { readonly run: readonly [number, number]; readonly beside: number },
): KeptEdit {
  const around = [...lines.slice(0, first), ...lines.slice(end)];
  const at = beside > first ? beside - (end - first) : beside;
  return { ...keptEdit(around, by, [at, at]), text: keptEdit(lines, by, [first, end]).text };
}

/**
 * How many blank lines behind a run belong to it: those that end it, if it is a paragraph, a list
 * or a block of its own.
 */
export function blanksAfter(
  lines: readonly string[],
  [first, end]: readonly [number, number],
): number {
  const before = lines[first - 1]?.trim() ?? "";
  if (before !== "" && !endsHeading(lines, first - 1)) return 0;
  const next = lines.slice(end).findIndex((line) => line.trim() !== "");
  return next === -1 ? lines.length - end : next;
}

function movedEdits(
  lines: readonly MergedLine[],
  moved: MovedLines,
  whole: typeof withHeading = (_lines, _by, run) => run,
): MovedTwice {
  const editsBy = (by: WritingSide) => {
    return movedRuns(lines, by, moved[by]).map((run) => keptEdit(lines, by, whole(lines, by, run)));
  };
  return { mine: editsBy("mine"), theirs: editsBy("theirs") };
}

/**
 * Takes in the heading above a run if the same side wrote it: the side renamed the section as it
 * moved it.
 */
function withHeading(
  lines: readonly MergedLine[],
  by: WritingSide,
  [first, end]: readonly [number, number],
): readonly [number, number] {
  const above = lines.slice(0, first).findLastIndex(({ side, text }) => {
    return side !== by || hasWord(text);
  });
  const isNamed =
    lines[above]?.side === by &&
    endsHeading(
      lines.map(({ text }) => text),
      above,
    );
  return isNamed ? [above, end] : [first, end];
}

/** Lines [first, end) of a merged text. */
export function keptEdit(
  lines: readonly MergedLine[],
  by: WritingSide,
  [first, end]: readonly number[],
): KeptEdit {
  const kept = lines.slice(first, end);
  const rest = lines.slice(end).map(({ text }) => `${text}\n`);
  return {
    by,
    text: kept.map(({ text }) => `${text}\n`).join(""),
    behind: linesBefore(lines, first ?? 0),
    ahead: lineAhead(rest, 0),
    at: kept[0]?.from ?? 0,
  };
}

function linesBefore(lines: readonly MergedLine[], first: number): string {
  const texts = lines.map(({ text }) => `${text}\n`);
  return texts.slice(neighbourStart(texts, first), first).join("");
}

/** Tells whether a line is one that its side alone wrote, and did not only put again. */
function newLines(
  ytext: Y.Text,
  { again, met }: { readonly again: PutAgain; readonly met: readonly TextSpan[] },
): (line: MergedLine) => boolean {
  const spans = met.length > 0 ? captureText(ytext).spans : [];
  const isMet = ({ from }: MergedLine) => {
    const { client, clock } = idAt(spans, from);
    return met.some((span) => {
      return span.client === client && span.clock <= clock && clock < span.clock + span.length;
    });
  };
  return (line) => !isAgain(line, again) && !(met.length > 0 && isMet(line));
}

function editsInPlace(
  lines: readonly MergedLine[],
  graves: Graves,
  isNew: (line: MergedLine) => boolean,
): KeptEdit[] {
  const found: KeptEdit[] = [];
  for (let first = 0, end = 0; first < lines.length; first = end + 1) {
    end = first;
    while ((lines[end]?.side ?? "base") !== "base") end++;
    const place = lines.slice(first, end);
    // Lines that the other side only put again do not make the place a shared one, so they are
    // passed over.
    const by = writerAt(place, graves) ?? writerAt(place.filter(isNew), graves);
    if (!by) continue;
    for (const run of newRuns(lines, [first, end], isNew)) found.push(keptEdit(lines, by, run));
  }
  return found;
}

/** The stretches of new lines in [first, end) that say anything. */
function newRuns(
  lines: readonly MergedLine[],
  [first, end]: readonly [number, number],
  isNew: (line: MergedLine) => boolean,
): (readonly [number, number])[] {
  const runs: (readonly [number, number])[] = [];
  for (let from = first, to = first; from < end; from = to + 1) {
    to = from;
    while (to < end && isNew(lines[to] as MergedLine)) to++;
    if (lines.slice(from, to).some(({ text }) => hasWord(text))) runs.push([from, to]);
  }
  return runs;
}

/** Where in the visible text deleted characters would stand. */
interface Graves {
  readonly both: ReadonlySet<number>;
  readonly mine: ReadonlySet<number>;
  readonly theirs: ReadonlySet<number>;
}

/** Where in the visible text these deleted characters would stand. */
export function gravesOf(ytext: Y.Text, deleted: IdRanges): ReadonlySet<number> {
  const graves = new Set<number>();
  if (deleted.size === 0) return graves;
  let at = 0;
  for (const { client, clock, length, text } of textRuns(ytext)) {
    if (text !== undefined) at += length;
    else if (holdsAny(deleted, client, { clock, length })) graves.add(at);
  }
  return graves;
}

/** The side that wrote all lines of a place at which the other side deleted what was there. */
function writerAt(place: readonly MergedLine[], graves: Graves): WritingSide | undefined {
  const [first, last] = [place[0], place.at(-1)];
  if (!first || !last || first.side === "base") return undefined;
  if (place.some(({ side }) => side !== first.side)) return undefined;
  if (!place.some(({ text }) => hasWord(text))) return undefined;
  const others = first.side === "mine" ? graves.theirs : graves.mine;
  const isBetween = others.has(first.from) && others.has(last.to);
  const isInPlace = [...graves.both].some((at) => first.from <= at && at <= last.to);
  return isBetween || isInPlace ? first.side : undefined;
}
