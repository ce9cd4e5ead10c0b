import { listOpenConflicts } from "../../shared/replica/conflicts/shared-version.ts";
import {
  forgetTextConflict,
  recordTextConflict,
  type TextConflictRecord,
  type TextVersion,
} from "../../shared/replica/conflicts/text-conflict-record.ts";
import { isSameMachine } from "../../shared/replica/document/author.ts";
import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import { hasWord } from "../../shared/replica/text/line-diff.ts";
import { contentLines, splitLines } from "./text-lines.ts";

/**
 * Whether lines in which git and the document differ are an open conflict of this machine: those
 * that git set aside, and those that it brought and the document never had. Nothing is written
 * below either: the one could not be separated from it, and of the other the next commit would
 * take them back.
 */
export function isGitDisputed(open: OpenDocument): boolean {
  return openHere(open, ["set-aside", "elsewhere"]).length > 0;
}

/**
 * Settles the conflicts about what git had set aside and the file has again: the lines, or their
 * deletion. A line that git put in their place, and that is in this file alone, keeps its conflict
 * open, whatever becomes of the others: it would be written over without having been shown. Once
 * there is none, the conflict says so.
 */
export function settleAside(open: OpenDocument, content: string): void {
  const lines = contentLines(content);
  const document = contentLines(open.document.content());
  for (const conflict of asideHere(open)) {
    // Of a version that was cut nobody knows all lines: somebody has to settle it.
    if (conflict.versions.some(({ cut }) => cut)) continue;
    const stood = wordsOf(conflict, (version) => !isSameMachine(version, open.author));
    const put = wordsOf(conflict, (version) => isSameMachine(version, open.author));
    const isAlone = (line: string) => countOf(lines, line) > countOf(document, line);
    if (put.some(isAlone)) continue;
    const isBack = stood.every((line) => lines.includes(line));
    if (!isBack && put.length === 0) continue;
    forgetTextConflict(open.document, conflict.id);
    if (!isBack) recordWithoutPut(open, conflict);
  }
}

/** The same conflict, with nothing in the place of the lines that git took. */
function recordWithoutPut(
  { document, author }: OpenDocument,
  { kind, foundAt, versions: [one, other] }: TextConflictRecord,
): void {
  const without = (version: TextVersion) => {
    const { text, machine, home, at, places, isStanding } = version;
    const who = { machine, home, ...(at !== undefined && { at }) };
    return isSameMachine(version, author)
      ? { text: "", ...who }
      : { text, ...who, places, isStanding };
  };
  const versions = [without(one), without(other)] as const;
  recordTextConflict(document, { kind, versions }, { now: foundAt });
}

/** The lines with a word of the versions that are meant. */
function wordsOf(
  { versions }: TextConflictRecord,
  isMeant: (version: TextVersion) => boolean,
): string[] {
  return versions.filter(isMeant).flatMap(({ text }) => splitLines(text).filter(hasWord));
}

function countOf(lines: readonly string[], line: string): number {
  return lines.filter((each) => each === line).length;
}

/** The open conflicts about what git set aside on this machine. */
export function asideHere(open: OpenDocument): TextConflictRecord[] {
  return openHere(open, ["set-aside"]);
}

/** The open conflicts of these kinds that are about what git did on this machine. */
function openHere(
  { document, author }: OpenDocument,
  kinds: readonly TextConflictRecord["kind"][],
): TextConflictRecord[] {
  return listOpenConflicts(document).filter(({ kind, versions }) => {
    return kinds.includes(kind) && versions.some((version) => isSameMachine(version, author));
  });
}
