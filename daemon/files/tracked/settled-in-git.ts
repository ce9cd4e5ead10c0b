import { listOpenConflicts } from "../../../shared/replica/conflicts/shared-version.ts";
import {
  forgetTextConflict,
  listTextConflicts,
  REPLACING,
  type TextConflictRecord,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { hasWord } from "../../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { Arrival } from "../arrivals/arrivals.ts";
import { linesBehind, onlyRunOf } from "../lines/document-lines.ts";
import { type FileState, fileText } from "../lines/file-state.ts";
import { SpanSet, without } from "../lines/span-set.ts";
import { type CapturedLine, joinLines, linesOf, splitLines } from "../lines/text-lines.ts";
import type { ShownLines, Sight } from "../state/follow-facts.ts";
import { hasReadMarks } from "./shown-by-git.ts";

/** What a save settles of what git had set aside, because git has shown it with its marks. */
export interface SettledInGit {
  /** The text that the save is an edit of: with the lines that git had set aside. */
  readonly base: CapturedText;
  /** The conflicts about those lines. */
  readonly conflicts: readonly TextConflictRecord[];
}

/**
 * A stash that git could not bring back without a conflict stands in the file with its marks,
 * beside what took its place. Whoever settles that decides about the lines that were set aside,
 * too, which the document has kept. `base`: the text that the file had before,
 * `aside`: the open conflicts about what git set aside in it. Undefined where the
 * document has no such lines, or nobody can say which of several equal ones they are.
 */
export function findSettled(
  open: OpenDocument,
  {
    base,
    shown,
    aside: conflicts,
  }: {
    readonly base: CapturedText;
    readonly shown: ShownLines;
    readonly aside: readonly TextConflictRecord[];
  },
): SettledInGit | undefined {
  const lines = linesOf(open.document.captureText());
  const known = new SpanSet(base.spans);
  const isBeside = lines.map(({ spans }) => !known.hasAny(spans));
  const aside = new Set<number>();
  const settled: TextConflictRecord[] = [];
  for (const conflict of conflicts) {
    const stood = conflict.versions.find(({ isStanding }) => isStanding);
    if (!stood || !hasWord(stood.text) || !isShown(stood.text, shown)) continue;
    const runs = stood.places.map(({ text }) => onlyRunOf(lines, isBeside, splitLines(text)));
    if (runs.includes(undefined) || runs.flat().length === 0) continue;
    for (const at of runs.flat()) if (at !== undefined) aside.add(at);
    settled.push(conflict, ...about(open, stood.text, shown));
  }
  if (settled.length === 0) return undefined;
  return { base: withLines(base, lines, aside), conflicts: settled };
}

/**
 * Whether who settles it has read what took the place of the lines that were set aside: it says
 * something of that. An editor from before the stash has those lines itself, with what stood
 * between them.
 */
export function hasReadBeside(
  { base }: SettledInGit,
  { shown, file }: Pick<Sight, "shown" | "file">,
): boolean {
  if (!shown || file.kind !== "text") return false;
  const before = plainLines(base.text).filter((line) => !shown.disputed.has(line));
  return hasReadMarks(shown, file.content, [...before, ...shown.theirs].join("\n"));
}

/**
 * The lines between git's marks that whoever saved this text has read: it has something else there.
 * Of the rest of the file nobody can say so.
 */
export function readInMarks(
  base: FileState,
  { shown, file }: Pick<Sight, "shown" | "file">,
): ReadonlySet<string> {
  const isRead = shown && file.kind === "text" && hasReadMarks(shown, file.content, fileText(base));
  return isRead ? shown.disputed : new Set();
}

/** What others have changed, without what has been read. */
export function notRead(
  unseen: readonly Arrival[],
  { base }: FileState,
  read: ReadonlySet<string>,
): readonly Arrival[] {
  if (read.size === 0) return unseen;
  const isRead = (line: string) => isPart(plainLines(line), read);
  const lines = linesOf(base).filter(({ text }) => isRead(text));
  const spans = lines.flatMap((line) => line.spans);
  return unseen.map((each) => {
    const taken = each.taken.filter((line) => !isRead(line));
    return { ...each, brought: without(each.brought, spans), taken };
  });
}

/**
 * `isSeen`: what others wrote in the place of those lines, and is in conflict with them, as well.
 */
export function forgetSettled(
  { document }: OpenDocument,
  settled: SettledInGit | undefined,
  isSeen: boolean,
): void {
  const told = new Set(listTextConflicts(document).map(({ id }) => id));
  for (const { id, kind } of settled?.conflicts ?? []) {
    const isOver = isSeen || !REPLACING.includes(kind);
    if (isOver && told.delete(id)) forgetTextConflict(document, id);
  }
}

/**
 * Open conflicts of some of these lines with others, which git has shown side by side. It keeps
 * lines of several places together, each of which may have its own conflict.
 */
function about({ document }: OpenDocument, text: string, shown: ShownLines): TextConflictRecord[] {
  const words = new Set(wordsOf(text));
  const isSideBySide = (text: string) =>
    text === "" || (isShown(text, shown) && wordsOf(text).some((line) => shown.disputed.has(line)));
  return listOpenConflicts(document).filter(({ kind, versions }) => {
    const isAbout = versions.some((version) => isPart(wordsOf(version.text), words));
    return REPLACING.includes(kind) && isAbout && versions.every((each) => isSideBySide(each.text));
  });
}

function isShown(text: string, { all }: ShownLines): boolean {
  return wordsOf(text).every((line) => all.has(line));
}

function isPart(lines: readonly string[], all: ReadonlySet<string>): boolean {
  return lines.length > 0 && lines.every((line) => all.has(line));
}

/** The base with these lines of the document, each behind the line that it stands behind there. */
function withLines(
  base: CapturedText,
  lines: readonly CapturedLine[],
  added: ReadonlySet<number>,
): CapturedText {
  const own = linesOf(base);
  const behind = linesBehind(own, lines, added);
  return joinLines(behind.flatMap((more, at) => [...own.slice(at - 1, at), ...more]));
}

function wordsOf(text: string): string[] {
  return plainLines(text).filter(hasWord);
}
