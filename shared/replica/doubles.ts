import type * as Y from "yjs";
import { assert } from "../errors.ts";
import { type Doubles, findDoubles, type Place } from "./doubled-lines.ts";
import { type IdRanges, type MergedLine, type MergedText, readMergedText } from "./merged-lines.ts";
import { findRepeatedMoves, madeOnce } from "./repeated-moves.ts";
import { captureText, type TextSpan } from "./text.ts";
import { DeltaBuilder, type DeltaStep } from "./text-delta.ts";

export type { IdRanges };

/** Two sides changed the same place differently. Both are in the text, one after the other. */
export interface TextConflict {
  readonly mine: string;
  readonly theirs: string;
  /** The client that wrote the first of their lines. */
  readonly theirClient: number;
}

/** What a clean-up did. */
export interface CleanUp {
  /** The lines removed, in order. An equal line of the other side is still there for each. */
  readonly removed: readonly string[];
  readonly conflicts: readonly TextConflict[];
}

/** The ids that a document has at state vector `after` and had not at `before`. */
export function idsSince(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
): IdRanges {
  const ranges = new Map<number, [number, number][]>();
  for (const [client, to] of after) {
    const from = before.get(client) ?? 0;
    if (from < to) ranges.set(client, [[from, to]]);
  }
  return ranges;
}

/**
 * Removes the lines that both sides inserted at one place, where two machines made the same
 * change; see `findDoubles`. All else stays, both sides of a conflict too, but may move up. To be
 * called in the transaction in which what the ranges name came together: `mine` is what one side
 * inserted, `theirs` the other's, everything else is their common base.
 *
 * Either side may clean up, with the same outcome, and once cleaned a text stays as it is. Lines
 * that lost the break between them in the merge get one again.
 */
export function removeDoubles(ytext: Y.Text, mine: IdRanges, theirs: IdRanges): CleanUp {
  const merged = readMergedText(ytext, mine, theirs);
  const { dropped, moved, conflicts } = cleanOf(ytext, merged, [mine, theirs]);
  apply(ytext, rearrangement(merged, dropped, moved));
  const removed = merged.lines.filter((line) => dropped.has(line));
  return { removed: removed.map((line) => line.text), conflicts };
}

/** What is to be done to a text. */
interface Plan {
  readonly dropped: ReadonlySet<MergedLine>;
  readonly moved: ReadonlyMap<MergedLine, readonly MergedLine[]>;
  readonly conflicts: readonly TextConflict[];
}

/** Moves that were made twice are doubles of their own, and go before others would tear them. */
function cleanOf(ytext: Y.Text, merged: MergedText, sides: readonly [IdRanges, IdRanges]): Plan {
  const plan = planOf(ytext, merged);
  const isDropped = (line: MergedLine) => plan.dropped.has(line);
  const moves = findRepeatedMoves(ytext, merged, sides);
  const left = moves.filter((copies) => !copies.some((lines) => lines.every(isDropped)));
  const isTorn = left.some((copies) => copies.flat().some(isDropped));
  const { lines } = merged;
  const rest = isTorn ? planOf(ytext, { ...merged, lines: madeOnce(lines, moves) }) : plan;
  const again = (isTorn ? moves : left).flatMap(([, copy]) => copy);
  return { ...rest, dropped: new Set([...rest.dropped, ...again]) };
}

function planOf(ytext: Y.Text, merged: MergedText): Plan {
  const dropped = new Set<MergedLine>();
  const moved = new Map<MergedLine, readonly MergedLine[]>();
  const conflicts: TextConflict[] = [];
  let writers: readonly TextSpan[] | undefined;
  for (const place of findPlaces(merged)) {
    const doubles = findDoubles(place);
    for (const line of doubles.dropped) dropped.add(line);
    for (const [line, before] of doubles.moved) moved.set(line, before);
    const conflict = findConflict(place, doubles, (line) => {
      writers ??= captureText(ytext).spans;
      return clientAt(writers, line.from);
    });
    if (conflict) conflicts.push(conflict);
  }
  return { dropped, moved, conflicts };
}

function apply(ytext: Y.Text, steps: readonly DeltaStep[]): void {
  const transaction = ytext.doc?._transaction;
  // Yjs takes an own insertion beside an applied update for a second user of the client id, and
  // gives the document another id, unless the transaction is said to be local.
  if (transaction && steps.some((step) => "insert" in step)) transaction.local = true;
  if (steps.some((step) => !("retain" in step))) ytext.applyDelta([...steps]);
}

/** The stretches of lines between the base's lines in which both sides inserted something. */
function findPlaces({ lines, tombstones }: MergedText): Place[] {
  const places: Place[] = [];
  let grave = 0;
  for (let first = 0, end = 0; first < lines.length; first = end + 1) {
    end = first;
    while ((lines[end]?.side ?? "base") !== "base") end++;
    const place = lines.slice(first, end);
    if (place.every(({ side }) => side === place[0]?.side)) continue;
    const [from, to] = [lines[first]?.from ?? 0, lines[end - 1]?.to ?? 0];
    while ((tombstones[grave]?.at ?? from) < from) grave++;
    let [replaced, cleaned] = [false, false];
    for (; (tombstones[grave]?.at ?? to + 1) <= to; grave++) {
      // What was deleted before the first line was deleted before both sides inserted here.
      if (tombstones[grave]?.side !== "base") cleaned = true;
      else if ((tombstones[grave]?.at ?? from) > from) replaced = true;
    }
    places.push({ lines: place, replaced, cleaned });
  }
  return places;
}

/** Lines of the base were replaced here, by something else on either side. */
function findConflict(
  place: Place,
  doubles: Doubles,
  clientOf: (line: MergedLine) => number,
): TextConflict | undefined {
  if (!place.replaced) return undefined;
  const own = place.lines.filter((line) => !doubles.dropped.has(line) && !doubles.kept.has(line));
  const mine = own.filter(({ side }) => side === "mine");
  const theirs = own.filter(({ side }) => side === "theirs");
  const [theirFirst] = theirs.filter(({ text }) => text.trim() !== "");
  if (!theirFirst || textOf(mine).trim() === "") return undefined;
  return { mine: textOf(mine), theirs: textOf(theirs), theirClient: clientOf(theirFirst) };
}

function textOf(lines: readonly MergedLine[]): string {
  return lines.map(({ text }) => `${text}\n`).join("");
}

/** The client that wrote the character at an index of the text that the spans cover. */
function clientAt(spans: readonly TextSpan[], index: number): number {
  let end = 0;
  const span = spans.find(({ length }) => {
    end += length;
    return end > index;
  });
  assert(typeof span?.client === "number", "every character of a document has a writer");
  return span.client;
}

function rearrangement(
  { text, lines }: MergedText,
  dropped: ReadonlySet<MergedLine>,
  moved: ReadonlyMap<MergedLine, readonly MergedLine[]>,
) {
  const delta = new DeltaBuilder(text);
  const gone = new Set([...dropped, ...[...moved.values()].flat()]);
  const last = lines.findLastIndex((line) => !gone.has(line));
  for (const [i, line] of lines.entries()) {
    const next = lines[i + 1];
    const before = moved.get(line);
    if (before) delta.insert(line.from, textOf(before));
    if (gone.has(line)) {
      // At the end of a text without a last line break, the one before the line goes instead.
      const lead = i === last + 1 && !text.endsWith("\n") && text[line.from - 1] === "\n" ? 1 : 0;
      delta.delete(line.from - lead, line.to - line.from + lead);
    } else if (line.unbroken && next !== undefined && !gone.has(next)) {
      delta.insert(line.to, "\n");
    }
  }
  return delta.finish();
}
