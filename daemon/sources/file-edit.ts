import * as Y from "yjs";
import type { IdRanges } from "../../shared/replica/doubles.ts";
import type { OpenDocument } from "../../shared/replica/open-document.ts";
import { seedText } from "../../shared/replica/seed.ts";
import type { WriteContext } from "../../shared/replica/store.ts";
import { alignBase, type CapturedText, mergeIntoText } from "../../shared/replica/text.ts";
import { cleanUpText } from "../../shared/replica/text-conflicts.ts";
import { lineEdits } from "../../shared/replica/text-edits.ts";
import { equalForms, splitForm } from "../../shared/replica/text-form.ts";
import type { DaemonTables } from "../tables.ts";
import { type FileState, listVersions } from "./follow-store.ts";

type Context = WriteContext<DaemonTables>;

/** A file's content as read, with the hash of its bytes. */
export interface FileContent {
  readonly content: string;
  readonly hash: string;
}

/**
 * Takes a save into the document: what changed since `base`, the state that its author saw.
 * Returns the file's new state.
 */
export async function takeSave(
  context: Context,
  open: OpenDocument,
  base: FileState,
  file: FileContent,
): Promise<FileState> {
  const { document } = open;
  const { form, lines } = splitForm(file.content);
  const unseen = rangesOutside(document.captureText(), base.base);
  const { clientID: client, store } = document.ydoc;
  const clock = Y.getState(store, client);
  const captured = document.editText(base.base, lines);
  const mine: IdRanges = new Map([[client, [[clock, Y.getState(store, client)]]]]);
  if (Y.getState(store, client) > clock) await cleanUpText(context, open, mine, unseen);
  if (!equalForms(form, base.form)) document.setTextForm(form, context.now);
  return { hash: file.hash, base: captured, form };
}

/**
 * The first meeting of a file with its document. A document that never held text is seeded with the
 * file's; otherwise the two are merged by lines and everything in the document stays. `committed`
 * is the text that a tracked file had in HEAD: only what differs from it is this machine's change.
 */
export async function takeFirst(
  context: Context,
  open: OpenDocument,
  file: FileContent,
  committed: string | undefined,
): Promise<FileState> {
  const { document } = open;
  const { form, lines } = splitForm(file.content);
  if (!document.everHeldText()) {
    if (lines !== "") seedText(document, lines);
    document.setTextForm(form, context.now);
    return { hash: file.hash, base: document.captureText(), form };
  }
  if (committed !== undefined) {
    const base = alignBase(document.text, splitForm(committed).lines);
    return await takeSave(context, open, { hash: "", base, form }, file);
  }
  const base = document.change("local", () => mergeIntoText(document.text, lines));
  return { hash: file.hash, base, form };
}

/**
 * The state that a save was made from. Normally the last one; but an editor that has not seen our
 * last writes saves what it knew, and such a save is nearer to a version that we wrote over.
 */
export async function baseOfSave(
  context: Context,
  dir: string,
  current: FileState,
  file: FileContent,
): Promise<FileState> {
  const { lines } = splitForm(file.content);
  let nearest: FileState = current;
  let least = distance(current.base.text, lines);
  for (const version of await listVersions(context.db, dir)) {
    if (least === 0) break;
    const lineCount = distance(version.base.text, lines);
    if (lineCount >= least) continue;
    least = lineCount;
    nearest = { ...version, form: current.form };
  }
  return nearest;
}

/** How many lines differ. */
function distance(one: string, other: string): number {
  let lines = 0;
  for (const edit of lineEdits(one, other)) {
    lines += countLines(edit.insert) + countLines(one.slice(edit.from, edit.to));
  }
  return lines;
}

function countLines(text: string): number {
  return text === "" ? 0 : text.split("\n").length;
}

/** The characters of the live text that a version does not show. */
function rangesOutside(live: CapturedText, version: CapturedText): IdRanges {
  const shown = new Map<number, [number, number][]>();
  for (const { client, clock, length } of version.spans) {
    if (client === null) continue;
    const ranges = shown.get(client) ?? [];
    ranges.push([clock, clock + length]);
    shown.set(client, ranges);
  }
  for (const ranges of shown.values()) ranges.sort(([one], [other]) => one - other);
  const outside = new Map<number, [number, number][]>();
  for (const { client, clock, length } of live.spans) {
    if (client === null) continue;
    const rest = subtract([clock, clock + length], shown.get(client) ?? []);
    if (rest.length > 0) outside.set(client, [...(outside.get(client) ?? []), ...rest]);
  }
  for (const ranges of outside.values()) ranges.sort(([one], [other]) => one - other);
  return outside;
}

/** What is left of a range without others, which are sorted. */
function subtract(
  [from, to]: readonly [number, number],
  others: readonly (readonly [number, number])[],
): [number, number][] {
  const rest: [number, number][] = [];
  let start = from;
  for (const [otherFrom, otherTo] of others) {
    if (otherTo <= start || otherFrom >= to) continue;
    if (otherFrom > start) rest.push([start, otherFrom]);
    start = Math.max(start, otherTo);
  }
  if (start < to) rest.push([start, to]);
  return rest;
}
