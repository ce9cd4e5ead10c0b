import * as Y from "yjs";
import { assert } from "../../errors.ts";
import { ITEMS_PER_STEP, inOneTurn, type Steps } from "../../steps.ts";
import { chunksOf } from "../../turns.ts";
import { diffLines, type LineHunk } from "./line-diff.ts";
import { MovedInto } from "./moved-into.ts";
import { TextCursor } from "./text-cursor.ts";
import { DeltaBuilder, type DeltaStep } from "./text-delta.ts";
import { lineEdits, lineEditsInSteps, type TextEdit } from "./text-edits.ts";
import { TextPlaces, type TextRun } from "./text-places.ts";
import { SpanList, SpanReader, type TextSpan } from "./text-spans.ts";

export type { TextRun, TextSpan };

/**
 * A version of a text that knows which item of the document each character came from, so that an
 * edit of it can be applied to the current text later. Plain JSON. The spans cover `text` in order.
 * Their ids are valid in every copy of the document, before and after garbage collection.
 */
export interface CapturedText {
  readonly text: string;
  readonly spans: readonly TextSpan[];
}

/** Every run of the text in document order, tombstones included. */
export function textRuns(ytext: Y.Text): TextRun[] {
  return inOneTurn(findRuns(ytext));
}

function* findRuns(ytext: Y.Text): Steps<TextRun[]> {
  const runs: TextRun[] = [];
  for (let item = ytext._start; item !== null; item = item.right) {
    const { content, deleted, id, length } = item;
    const text = !deleted && content instanceof Y.ContentString ? content.str : undefined;
    runs.push({ client: id.client, clock: id.clock, length, text });
    if (runs.length % ITEMS_PER_STEP === 0) yield;
  }
  return runs;
}

/** The current text. */
export function captureText(ytext: Y.Text): CapturedText {
  return inOneTurn(captureTextInSteps(ytext));
}

/** The same, step by step. */
export function* captureTextInSteps(ytext: Y.Text): Steps<CapturedText> {
  return yield* captureRuns(yield* findRuns(ytext));
}

function* captureRuns(runs: readonly TextRun[]): Steps<CapturedText> {
  const spans = new SpanList();
  let text = "";
  for (const [count, run] of runs.entries()) {
    if (count % ITEMS_PER_STEP === 0) yield;
    if (run.text === undefined) continue;
    spans.push(run.client, run.clock, run.length);
    text += run.text;
  }
  return { text, spans: spans.spans };
}

/**
 * Applies the change from `base` to `next`, by whole lines, to the current text, in one
 * transaction. Only characters of `base` are deleted. New lines go after the character of `base` on
 * their left, or after its tombstone. Lines that `base` lacks are never touched, and no two lines
 * are joined: a line break is added where a last line had none. A line that only loses a CR before
 * its break stays the same line.
 *
 * Returns the captured version whose text is `next`. The text must contain only plain characters.
 *
 * ```
 * const base = captureText(ytext); // "one\ntwo\n"
 * // others insert "three\n" meanwhile
 * editFromBase(ytext, base, "one\n2\n"); // the text is "one\n2\nthree\n"
 * ```
 */
export function editFromBase(
  ytext: Y.Text,
  base: CapturedText,
  change: string | EditedLines,
): CapturedText {
  const { lines: next, hunks } = typeof change === "string" ? { lines: change } : change;
  const isKnown = hunks && base.text.endsWith("\n") && next.endsWith("\n");
  if (!isKnown) return inOneTurn(editFromBaseInSteps(ytext, base, next));
  const edits = lineEdits(base.text, next, () => [...hunks]);
  return inOneTurn(applyEdits(ytext, base, { edits, next }));
}

/**
 * The same step by step. Each step that changes the text is a transaction of its own, unless all of
 * them are in one; nobody else may change the text in between.
 */
export function* editFromBaseInSteps(
  ytext: Y.Text,
  base: CapturedText,
  next: string,
): Steps<CapturedText> {
  const edits = yield* lineEditsInSteps(base.text, next);
  return yield* applyEdits(ytext, base, { edits, next });
}

/** A text after an edit, and which of its base's lines became which. */
export interface EditedLines {
  readonly lines: string;
  /**
   * The changes, in order. Not used where one of the texts has no last line break: then the
   * difference is looked for again.
   */
  readonly hunks?: readonly LineHunk[] | undefined;
}

/**
 * A CR that is added before a line's break makes the line new: if others delete the line meanwhile,
 * the CR alone would be left.
 */
function writtenAnew(text: string, edit: TextEdit): TextEdit {
  if (!edit.ending || edit.insert === "") return edit;
  const from = edit.from === 0 ? 0 : text.lastIndexOf("\n", edit.from - 1) + 1;
  const lineBreak = text.slice(edit.from, edit.from + 1);
  const insert = `${text.slice(from, edit.from)}\r${lineBreak}`;
  return { from, to: edit.from + lineBreak.length, insert, behind: lineBreak === "" };
}

/**
 * Treats `text` as a version of the document although it is none. Lines in common with the current
 * text (longest common subsequence) are the document's. So are lines that the document has
 * elsewhere and that match nothing else: they were moved. All others are only in this version.
 * Deleting such a line later has no effect, and what is inserted beside it goes to the nearest
 * common line.
 */
export function alignBase(ytext: Y.Text, text: string): CapturedText {
  const live = captureText(ytext);
  const reader = new SpanReader(live.spans);
  const spans = new SpanList();
  const edits = lineEdits(live.text, text);
  const moved = new MovedInto(live, edits);
  let end = 0;
  for (const edit of edits) {
    reader.copy(end, edit.from, spans);
    moved.copy(edit, spans);
    end = edit.to;
  }
  reader.copy(end, live.text.length, spans);
  return { text, spans: spans.spans };
}

/**
 * Merges `fileText` into the current text without a common base, in one transaction: all that
 * is there stays, including line endings, and lines that only the file has are inserted where they
 * belong. Returns `fileText` as a captured version, the base of the file's next edit.
 */
export function mergeIntoText(ytext: Y.Text, fileText: string): CapturedText {
  const live = captureText(ytext);
  const reader = new SpanReader(live.spans);
  const spans = new SpanList();
  const insertions: TextEdit[] = [];
  let text = "";
  let end = 0;
  for (const edit of lineEdits(live.text, fileText, diffLines)) {
    reader.copy(end, edit.from, spans);
    text += live.text.slice(end, edit.from);
    end = edit.to;
    if (edit.ending) {
      spans.push(null, 0, edit.insert.length);
      text += edit.insert;
    } else insertions.push({ from: text.length, to: text.length, insert: edit.insert });
  }
  reader.copy(end, live.text.length, spans);
  text += live.text.slice(end);
  const merged = { text, spans: spans.spans };
  return inOneTurn(applyEdits(ytext, merged, { edits: insertions, next: fileText }));
}

/** Applies `edits` of `base` to the current text. `next` is `base` after these edits. */
function* applyEdits(
  ytext: Y.Text,
  base: CapturedText,
  { edits: given, next }: { readonly edits: readonly TextEdit[]; readonly next: string },
): Steps<CapturedText> {
  const { doc } = ytext;
  assert(doc !== null, "a text is in a document before it is edited");
  const edits = given.map((edit) => writtenAnew(base.text, edit));
  const runs = yield* findRuns(ytext);
  const places = yield* TextPlaces.find(base.spans, runs);
  const { text: live } = yield* captureRuns(runs);
  const change = yield* placeEdits(places, edits, live);
  const reader = new SpanReader(base.spans);
  const spans = new SpanList();
  const clock = Y.getState(doc.store, doc.clientID);
  let end = 0;
  for (const [count, edit] of edits.entries()) {
    reader.copy(end, edit.from, spans);
    spans.push(doc.clientID, clock + (change.before.get(edit) ?? 0), edit.insert.length);
    end = edit.to;
    if (count % ITEMS_PER_STEP === 0) yield;
  }
  reader.copy(end, base.text.length, spans);
  yield* applySteps(ytext, change.steps);
  return { text: next, spans: spans.spans };
}

/** This many steps of a change are applied in a fraction of a turn. */
const STEPS_AT_ONCE = 512;

function* applySteps(ytext: Y.Text, steps: readonly DeltaStep[]): Steps<void> {
  const cursor = new TextCursor(ytext);
  for (const some of chunksOf(steps, STEPS_AT_ONCE)) {
    yield;
    cursor.apply(some);
  }
}

interface PlacedEdits {
  readonly steps: readonly DeltaStep[];
  /** How many characters the whole change inserts before those of an edit. */
  readonly before: ReadonlyMap<TextEdit, number>;
}

/** A range of visible characters of the current text. */
interface Stretch {
  readonly index: number;
  readonly length: number;
}

/**
 * The same, with the CR of each line that is otherwise removed completely: the base may have the
 * line without its CR, which would be left before the next line.
 */
function withMarks(removed: readonly Stretch[], live: string): Stretch[] {
  const ends = new Set(removed.map(({ index, length }) => index + length));
  return removed.map(({ index, length }) => {
    const isBreak = live[index] === "\n" && live[index - 1] === "\r";
    const before = index - 1;
    const isAlone = before === 0 || live[before - 1] === "\n" || ends.has(before);
    return isBreak && isAlone ? { index: before, length: length + 1 } : { index, length };
  });
}

/**
 * Makes one change of the current text from edits of a base. The base's lines may be in another
 * order there, so the edits are sorted by their places.
 */
function* placeEdits(
  places: TextPlaces,
  edits: readonly TextEdit[],
  live: string,
): Steps<PlacedEdits> {
  const inserted: { readonly edit: TextEdit; readonly index: number }[] = [];
  const stretches: Stretch[] = [];
  for (const [count, edit] of edits.entries()) {
    if (edit.insert !== "") inserted.push({ edit, index: places.insertionOf(edit) });
    stretches.push(...places.visible(edit.from, edit.to));
    if (count % ITEMS_PER_STEP === 0) yield;
  }
  const removed = withMarks(stretches, live);
  yield;
  // Where something is inserted and removed at the same place, the insertion comes first.
  const placed = [...inserted, ...removed].sort((one, other) => one.index - other.index);
  yield;
  const delta = new DeltaBuilder(live);
  const before = new Map<TextEdit, number>();
  for (const each of placed) {
    if ("edit" in each) before.set(each.edit, delta.insert(each.index, each.edit.insert));
    else delta.delete(each.index, each.length);
    if (delta.steps.length % ITEMS_PER_STEP === 0) yield;
  }
  return { steps: delta.finish(), before };
}
