import * as Y from "yjs";
import { listOpenConflicts } from "../../../shared/replica/conflicts/shared-version.ts";
import type { TextConflictRecord } from "../../../shared/replica/conflicts/text-conflict-record.ts";
import { seedText } from "../../../shared/replica/document/seed.ts";
import { nameMachine } from "../../../shared/replica/log/machines.ts";
import { findCarriedOff } from "../../../shared/replica/merge/carried-off.ts";
import { readMergedText } from "../../../shared/replica/merge/merged-lines.ts";
import { findMovedLines } from "../../../shared/replica/merge/moved-lines.ts";
import { putAgain } from "../../../shared/replica/merge/put-again.ts";
import { readSideLines } from "../../../shared/replica/merge/side-lines.ts";
import {
  cleanUpText,
  followSections,
  tellKeptEdits,
  tellSharedVersions,
} from "../../../shared/replica/merge/text-conflicts.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { type IdRanges, intersection } from "../../../shared/replica/text/id-ranges.ts";
import type { LineHunk } from "../../../shared/replica/text/line-diff.ts";
import { piecesOf } from "../../../shared/replica/text/removed-text.ts";
import { type CapturedText, mergeIntoText } from "../../../shared/replica/text/text.ts";
import { equalForms, plainLines, splitForm } from "../../../shared/replica/text/text-form.ts";
import type { DaemonTables } from "../../home/tables.ts";
import type { FileState } from "../lines/file-state.ts";
import { rangesOutside } from "../lines/span-set.ts";
import { noteMetLines } from "./met-lines.ts";

type Context = WriteContext<DaemonTables>;

/** A file's content as read, with the hash of its bytes. */
export interface FileContent {
  readonly content: string;
  readonly hash: string;
  /** When it was saved, in milliseconds since the Unix epoch. */
  readonly savedAt: number;
}

/**
 * Applies a save to the document: the difference from `base`, the state that its author saw.
 * Returns the file's new state.
 */
export async function takeSave(
  context: Context,
  open: OpenDocument,
  { base, file }: { readonly base: FileState; readonly file: FileContent },
): Promise<FileState> {
  const { form, lines } = splitForm(file.content, base.form);
  const former = open.document.captureText();
  if (!equalForms(form, base.form)) open.document.setTextForm(form, context.now);
  const edit = await applyEdit(context, open, { seen: knownBase(open, base.base), lines, former });
  return { hash: file.hash, base: edit.base, form };
}

/** The result of an edit of the document. */
export interface AppliedEdit {
  /** The text after the edit, as a version of the document. */
  readonly base: CapturedText;
  /** Ids of the conflicts with what others wrote at the same place. */
  readonly conflicts: readonly string[];
}

/** A change of the document's text, to be applied. */
export interface TextChange {
  readonly seen: CapturedText;
  readonly lines: string;
  /** Texts on the way there: what one of them lacks is written anew. */
  readonly steps?: readonly string[];
  /** How `seen` became `lines`, where that is known and there are no steps. */
  readonly hunks?: readonly LineHunk[] | undefined;
  /** Everything that the file has shown, if that is more than `seen`. */
  readonly shown?: CapturedText;
  /** The conflicts that were open before this change recorded any. */
  readonly disagreed?: readonly TextConflictRecord[];
  /** The document's text before the change's author gave it another form, if he did. */
  readonly former?: CapturedText;
}

/**
 * Applies the change from `seen` to `lines` to the document, and cleans up lines that both sides
 * wrote.
 */
export async function applyEdit(
  context: Context,
  open: OpenDocument,
  {
    seen,
    lines,
    steps = [],
    hunks,
    shown = seen,
    disagreed = listOpenConflicts(open.document),
    former,
  }: TextChange,
): Promise<AppliedEdit> {
  const { document } = open;
  const before = document.captureText();
  // What came and went with the form is not what others did.
  const found = former ?? before;
  const theirs = rangesOutside(found, seen);
  const gone = rangesOutside(seen, found);
  const { clientID: client, store } = document.ydoc;
  const clock = Y.getState(store, client);
  const last = steps.reduce((text, next) => document.editText(text, next), seen);
  const base = document.editText(last, lines, steps.length === 0 ? hunks : undefined);
  const mine = idsBetween(client, clock, Y.getState(store, client));
  const byMe = rangesOutside(seen, base);
  const both = intersection(gone, byMe);
  const deleted = { both, mine: byMe, theirs: gone };
  const isMet = mine.size > 0 && theirs.size > 0;
  const removed = both.size === 0 && !isMet ? [] : piecesOf(seen);
  const edits = { mine, theirs, deleted, removed, disagreed };
  const sideLines = both.size > 0 ? readSideLines(document.text, edits) : undefined;
  const placed = await followSections(context, open, { ...edits, lines: sideLines });
  // The caller records conflicts about lines that the file has shown and the save lacks.
  const apart = new Set([...placed.apart, ...startsOf(open, rangesOutside(shown, seen))]);
  const moved = findMovedLines(document.text, { mine, theirs, both, removed });
  const shownPieces = isMet ? removed : [];
  const again = putAgain({
    deleted: { mine: byMe, theirs: gone },
    removed: { mine: shownPieces, theirs: shownPieces },
  });
  const readLines = () =>
    readSideLines(document.text, { mine, theirs, deleted, removed: piecesOf(seen) });
  const texts =
    theirs.size + gone.size > 0 ? { base: seen.text, mine: lines, theirs: before.text } : undefined;
  const facts = { mine, theirs, both, again, apart, texts, readLines };
  const { met, put, conflicts } = await cleanUpText(context, open, facts);
  const unshown = rangesOutside(found, shown);
  const known = new Set(plainLines(seen.text));
  // What the file has shown counts as nobody's here.
  const unseen = put.filter(({ side }) => side === "mine" || shown === seen);
  const sides = {
    mine,
    theirs: unshown,
    deleted,
    taken: { mine: known, theirs: known },
    again,
    met,
    texts,
    carried: sideLines && findCarriedOff(sideLines),
  };
  const kept = await tellKeptEdits(context, open, { sides, put: unseen, moved, readLines });
  const shared = await tellSharedVersions(context, open, disagreed);
  await noteMetLines(context, open, met);
  return { base, conflicts: [...placed.conflicts, ...conflicts, ...kept, ...shared] };
}

/** Where in the text the lines of these characters begin. */
function startsOf({ document }: OpenDocument, ranges: IdRanges): number[] {
  if (ranges.size === 0) return [];
  const { lines } = readMergedText(document.text, ranges, new Map());
  return lines.flatMap(({ side, from }) => (side === "mine" ? [from] : []));
}

function idsBetween(client: number, from: number, to: number): IdRanges {
  return to > from ? new Map([[client, [[from, to]]]]) : new Map();
}

/**
 * A base all of whose characters the document knows, visible or not. One from before the document
 * was rebuilt names characters that no longer exist, and is matched by its lines.
 */
export function knownBase({ document }: OpenDocument, base: CapturedText): CapturedText {
  const { store } = document.ydoc;
  const isKnown = base.spans.every(
    ({ client, clock, length }) => client === null || clock + length <= Y.getState(store, client),
  );
  return isKnown ? base : document.alignText(base.text);
}

/**
 * The first meeting of a file with its document. A document that never had text gets the file's.
 * Otherwise both are merged by lines, and everything in the document stays.
 */
export function takeFirst(context: Context, open: OpenDocument, file: FileContent): FileState {
  const { document } = open;
  const { form, lines } = splitForm(file.content, document.textForm());
  if (!document.everHadText()) {
    if (lines !== "") seedNamed(context, open, lines);
    document.setTextForm(form, context.now);
    return { hash: file.hash, base: document.captureText(), form };
  }
  const base = document.change("local", () => mergeIntoText(document.text, lines));
  return { hash: file.hash, base, form };
}

/** Seeds the text. Its client id is derived from the content, and is recorded as this machine's. */
function seedNamed({ now }: Context, { document, writer }: OpenDocument, lines: string): void {
  const client = seedText(document, lines);
  const { machine: name, home } = writer;
  if (name !== undefined) nameMachine(document, client, { name, home, now });
}
