import * as Y from "yjs";
import type { PlacedLines } from "../conflicts/text-conflict-record.ts";
import type { IdRanges } from "../text/id-ranges.ts";
import { hasWord } from "../text/line-diff.ts";
import { lineAhead, neighbourStart } from "../text/neighbour-lines.ts";
import { captureText, type TextSpan } from "../text/text.ts";
import { DeltaBuilder, type DeltaStep } from "../text/text-delta.ts";
import { clientAt, SpanList, SpanReader } from "../text/text-spans.ts";
import { withGaps } from "../text/with-gaps.ts";
import { findPlaces, settledPlan } from "./clean-up-plan.ts";
import { findClusters } from "./clusters.ts";
import { type Doubles, joinDoubles, type MetPlace, NONE, withoutDoubles } from "./doubled-lines.ts";
import { gravesOf } from "./kept-edits.ts";
import { type MergedLine, type MergedText, readMergedText, type Side } from "./merged-lines.ts";
import { formerPlaces, isAgain, NOTHING_AGAIN, type PutAgain } from "./put-again.ts";
import { asMadeOnce, findRepeatedMoves } from "./repeated-moves.ts";

/** Two sides changed the same place differently. Both are in the text, one after the other. */
export interface MetTexts {
  readonly mine: MetVersion;
  readonly theirs: MetVersion;
  /** The client that wrote the first of their lines. */
  readonly theirClient: number;
}

/** The lines of one side, each with its line break, and where they stand. */
export interface MetVersion {
  readonly text: string;
  readonly places: readonly PlacedLines[];
}

/** What is known of two sides besides; see `removeDoubles`. */
export interface CleanUpFacts {
  readonly both?: IdRanges;
  readonly again?: PutAgain;
  /** Where in the text lines begin that are no version of what stands beside them. */
  readonly apart?: ReadonlySet<number>;
}

/** A line that a clean-up put elsewhere: its characters are new there, and still of its side. */
export interface PutLine {
  readonly side: Side;
  readonly client: number;
  readonly clock: number;
  readonly length: number;
  /** The client that had written it. */
  readonly writer: number;
}

/** What a clean-up did. */
export interface CleanUp {
  /** The lines removed, in order. An equal line of the other side is still there for each. */
  readonly removed: readonly string[];
  /** The characters of those equal lines, which both sides wrote. */
  readonly met: readonly TextSpan[];
  readonly put: readonly PutLine[];
  readonly conflicts: readonly MetTexts[];
}

/**
 * Removes one copy of the lines that both sides inserted at one place, where two machines made the
 * same change; see `findDoubles`. All else stays, both sides of a conflict included, but may move
 * up. `mine` is what one side inserted and `theirs` what the other did; everything else is their
 * common base. To be called in the transaction in which the two came together.
 *
 * Either side may clean up, with the same outcome, and a second clean-up changes nothing. Lines
 * that lost the break between them in the merge get one again. `both`: the ids of what both sides
 * deleted, as far as that is known; what each side put in its place is a conflict, wherever it
 * stands. Lines that a side put `again`, and those that begin at `apart` in the text, are in no
 * conflict.
 */
export function removeDoubles(
  ytext: Y.Text,
  mine: IdRanges,
  {
    theirs,
    cleanUpFacts: { both = new Map(), again = NOTHING_AGAIN, apart = NOWHERE } = {},
  }: { readonly theirs: IdRanges; readonly cleanUpFacts?: CleanUpFacts | undefined },
): CleanUp {
  const sides = [mine, theirs] as const;
  const { merged, doubles: found } = planDoubles(ytext, sides);
  const doubles = isSettled(ytext, sides, rearrangement(merged, found).steps) ? found : NONE;
  const places = placesIn(ytext, merged, { both, again, apart });
  const conflicts = findConflicts(ytext, { places, lines: merged.lines }, doubles);
  const met = spansOf(ytext, doubles.kept);
  const put = applyRearrangement(ytext, rearrangement(merged, doubles));
  const removed = merged.lines.filter((line) => doubles.dropped.has(line));
  return { removed: removed.map((line) => line.text), met, put, conflicts };
}

const NOWHERE: ReadonlySet<number> = new Set();

type Sides = readonly [mine: IdRanges, theirs: IdRanges];

function planDoubles(ytext: Y.Text, [mine, theirs]: Sides) {
  const read = readMergedText(ytext, mine, theirs);
  const merged = { ...read, lines: asMadeOnce(ytext, read, [mine, theirs]) };
  const moves = findRepeatedMoves(ytext, merged, [mine, theirs]);
  const doubles = joinDoubles(findClusters(merged, moves).map((one) => settledPlan(one)));
  return { merged, doubles };
}

/**
 * Whether a second clean-up would find nothing. Each part's plan was tried alone; all of them
 * together may make what one side wrote twice look as if both sides had written it.
 */
function isSettled(ytext: Y.Text, sides: Sides, steps: readonly DeltaStep[]): boolean {
  const { doc } = ytext;
  const [name] = [...(doc?.share ?? [])].find(([, type]) => Object.is(type, ytext)) ?? [];
  if (!doc || name === undefined || steps.every((step) => "retain" in step)) return true;
  const trial = new Y.Doc();
  Y.applyUpdate(trial, Y.encodeStateAsUpdate(doc));
  const copy = trial.getText(name);
  copy.applyDelta([...steps]);
  const { dropped, moved } = planDoubles(copy, sides).doubles;
  trial.destroy();
  return dropped.size === 0 && moved.size === 0;
}

function spansOf(ytext: Y.Text, lines: ReadonlySet<MergedLine>): readonly TextSpan[] {
  if (lines.size === 0) return [];
  const reader = new SpanReader(captureText(ytext).spans);
  const list = new SpanList();
  const inOrder = [...lines].sort((one, other) => one.from - other.from);
  for (const { from, to } of inOrder) reader.copy(from, to, list);
  return list.spans;
}

function apply(ytext: Y.Text, steps: readonly DeltaStep[]): void {
  const transaction = ytext.doc?._transaction;
  // Yjs would take an own insertion beside an applied update for a second user of the client id,
  // and give the document another id, unless the transaction is marked as local.
  if (transaction && steps.some((step) => "insert" in step)) transaction.local = true;
  if (steps.some((step) => !("retain" in step))) ytext.applyDelta([...steps]);
}

/**
 * The places at which both sides inserted something, and what either did to the base there. Lines
 * that a side only put again are left out. They count where they stood at this place before and
 * both sides deleted something here: then they are what that side left of the place.
 */
function placesIn(
  ytext: Y.Text,
  merged: MergedText,
  { both, again, apart }: Required<CleanUpFacts>,
): MetPlace[] {
  const graves = [...gravesOf(ytext, both)];
  const formerAt = formerPlaces(ytext, again);
  return findPlaces(merged).map((place) => {
    const [from, to] = [place.lines[0]?.from ?? 0, place.lines.at(-1)?.to ?? 0];
    const isIn = (at: number | undefined) => at !== undefined && from <= at && at <= to;
    const isByBoth = !place.cleaned && graves.some(isIn);
    const isNone = (line: MergedLine) => {
      if (apart.has(line.from)) return true;
      return isAgain(line, again) && !(isByBoth && isIn(formerAt(line)));
    };
    const gone = withGaps(place.lines, isNone, ({ text, side }, beside) => {
      return text.trim() === "" && side === beside.side;
    });
    const lines = place.lines.filter((line) => !gone.has(line));
    return { ...place, lines, replaced: place.replaced || isByBoth };
  });
}

/** The conflicts that are left at the places once the plan is done. */
function findConflicts(
  ytext: Y.Text,
  {
    places,
    lines,
  }: { readonly places: readonly MetPlace[]; readonly lines: readonly MergedLine[] },
  doubles: Doubles,
): MetTexts[] {
  let writers: readonly TextSpan[] | undefined;
  const clientOf = (line: MergedLine) => {
    writers ??= captureText(ytext).spans;
    return clientAt(writers, line.from);
  };
  const met = places.flatMap((place) => findConflict(place, doubles, clientOf) ?? []);
  if (met.length === 0) return [];
  const after = withoutDoubles(lines, doubles);
  return met.map(({ mine, theirs, theirClient }) => {
    const own = new Set([...mine, ...theirs]);
    return {
      mine: versionOf(mine, own, after),
      theirs: versionOf(theirs, own, after),
      theirClient,
    };
  });
}

/**
 * One side's version of a place. `own`: the lines of both sides. They stand one after the other,
 * and either side's may go, so the place of each version is named by the lines around both.
 */
function versionOf(
  lines: readonly MergedLine[],
  own: ReadonlySet<MergedLine>,
  after: readonly MergedLine[],
): MetVersion {
  const around = after.filter((line) => !own.has(line)).map(({ text }) => `${text}\n`);
  const [ofSide, runs] = [new Set(lines), new Map<number, string>()];
  let passed = 0;
  for (const line of after) {
    if (!own.has(line)) passed++;
    else if (ofSide.has(line)) runs.set(passed, `${runs.get(passed) ?? ""}${line.text}\n`);
  }
  const places = [...runs].map(([at, text]) => {
    const behind = around.slice(neighbourStart(around, at), at).join("");
    return { behind, text, ahead: lineAhead(around, at) };
  });
  return { text: places.map(({ text }) => text).join(""), places };
}

/** The lines of two sides that met at one place. */
interface MetLines {
  readonly mine: readonly MergedLine[];
  readonly theirs: readonly MergedLine[];
  readonly theirClient: number;
}

/**
 * The conflict of a place, if it has one. Either each side replaced lines of the base here, and by
 * different lines; or the sides wrote in part the same, which now stands once, though each may have
 * meant it to belong to its own.
 */
function findConflict(
  place: MetPlace,
  doubles: Doubles,
  clientOf: (line: MergedLine) => number,
): MetLines | undefined {
  if (!place.replaced && !place.lines.some((line) => doubles.dropped.has(line))) return undefined;
  const own = place.lines.filter((line) => !doubles.dropped.has(line) && !doubles.kept.has(line));
  const mine = own.filter(({ side }) => side === "mine");
  const theirs = own.filter(({ side }) => side === "theirs");
  const isSaid = place.replaced ? (text: string) => text.trim() !== "" : hasWord;
  const [theirFirst] = theirs.filter(({ text }) => isSaid(text));
  if (!theirFirst || !mine.some(({ text }) => isSaid(text))) return undefined;
  return { mine, theirs, theirClient: clientOf(theirFirst) };
}

/** `moved`: the lines that are inserted, and how many characters are before each. */
function rearrangement({ text, lines }: MergedText, { dropped, moved }: Doubles) {
  const delta = new DeltaBuilder(text);
  const own: { readonly line: MergedLine; readonly at: number; readonly length: number }[] = [];
  const gone = new Set([...dropped, ...[...moved.values()].flat()]);
  const last = lines.findLastIndex((line) => !gone.has(line));
  for (const [i, line] of lines.entries()) {
    const next = lines[i + 1];
    const before = moved.get(line);
    for (const each of before ?? []) {
      const whole = broken(text, each);
      own.push({ line: each, at: delta.insert(line.from, whole), length: whole.length });
    }
    if (gone.has(line)) {
      // At the end of a text without a last line break, the one before the line goes instead.
      const lead = i === last + 1 && !text.endsWith("\n") && text[line.from - 1] === "\n" ? 1 : 0;
      delta.delete(line.from - lead, line.to - line.from + lead);
    } else if (line.unbroken && next !== undefined && !gone.has(next)) {
      delta.insert(line.to, "\n");
    }
  }
  return { steps: delta.finish(), moved: own };
}

function applyRearrangement(
  ytext: Y.Text,
  { steps, moved }: ReturnType<typeof rearrangement>,
): PutLine[] {
  const { doc } = ytext;
  const spans = moved.length > 0 ? captureText(ytext).spans : [];
  const client = doc?.clientID ?? 0;
  const first = doc ? Y.getState(doc.store, client) : 0;
  apply(ytext, steps);
  return moved.map(({ line: { side, from }, at, length }) => {
    return { side, client, clock: first + at, length, writer: clientAt(spans, from) };
  });
}

/** A line as it stands in the text, with a line break in any case. */
function broken(text: string, { from, to }: MergedLine): string {
  const line = text.slice(from, to);
  return line.endsWith("\n") ? line : `${line}\n`;
}
