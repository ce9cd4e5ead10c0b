import type {
  NewTextConflict,
  PlacedLines,
} from "../../../shared/replica/conflicts/text-conflict-record.ts";
import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import { diffLines, hasWord } from "../../../shared/replica/text/line-diff.ts";
import { isTelling } from "../../../shared/replica/text/neighbour-lines.ts";
import { indicesFrom, linesThatStay } from "../lines/line-runs.ts";
import { joinedText, placedRuns } from "../lines/placed-runs.ts";
import { contentLines, linesOf } from "../lines/text-lines.ts";
import type { FileContent } from "../state/file-edit.ts";

/**
 * `kept`: the lines that only the document has. `keptSpans`: their characters. `come`: the lines
 * that only the file has and that are meant.
 */
export function differences({ document }: OpenDocument, { content }: Pick<FileContent, "content">) {
  const before = contentLines(document.content());
  const after = contentLines(content);
  const hunks = diffLines(before, after);
  const gone = hunks.flatMap(({ at, removed }) => indicesFrom(at, removed));
  const more = hunks.flatMap(({ from, added }) => indicesFrom(from, added));
  const come = (isMeant: (line: string) => boolean): PlacedLines[] => {
    const meant = more.filter((at) => isMeant(after[at] ?? ""));
    return placedRuns(meant, after, new Set());
  };
  const standing = linesOf(document.captureText());
  const keptSpans = gone.flatMap((at) => standing[at]?.spans ?? []);
  return { kept: placedRuns(gone, before, new Set()), keptSpans, come };
}

/** What others' commits did to a file, and what it had. */
interface CarriedFrom {
  /** What it had, with what waited to be committed there. */
  readonly known: string;
  /** What the last commit that was read has, and the one that is checked out. */
  readonly before: string;
  readonly committed: string;
}

/**
 * The conflict about deleted lines that others' commits put elsewhere: git knows no moves, so a
 * deletion that waits to be committed takes away none of what they wrote there.
 */
export function carriedBack(
  open: OpenDocument,
  file: FileContent,
  { known, before, committed }: CarriedFrom,
): NewTextConflict[] {
  const [then, now] = [contentLines(before), contentLines(committed)];
  const stays = linesThatStay(then, contentLines(known));
  const hunks = diffLines(then, now);
  const gone = hunks.flatMap(({ at, removed }) => indicesFrom(at, removed));
  const deleted = new Set(gone.flatMap((at) => (stays.has(at) ? [] : then[at])));
  const put = hunks.flatMap(({ from, added }) => now.slice(from, from + added));
  const moved = new Set(put.filter((line) => isTelling(line) && deleted.has(line)));
  if (moved.size === 0) return [];
  return cameBack(
    open,
    file,
    differences(open, file).come((line) => moved.has(line)),
  );
}

/** The conflict about deleted lines that a file brings back. */
export function cameBack(
  { writer: { machine } }: OpenDocument,
  { savedAt }: Pick<FileContent, "savedAt">,
  back: readonly PlacedLines[],
): NewTextConflict[] {
  if (!back.some(({ text }) => hasWord(text))) return [];
  const versions = [
    { text: joinedText(back), machine, at: Math.round(savedAt), places: back },
    { text: "", machine: undefined },
  ] as const;
  return [{ kind: "renewed", versions }];
}
