import type { OpenDocument } from "../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../shared/replica/store/write-context.ts";
import { commonLines, diffLines, hasWord } from "../../shared/replica/text/line-diff.ts";
import { withoutMark } from "../../shared/replica/text/text-form.ts";
import type { DaemonTables } from "../home/tables.ts";
import { changeBetween, type FileChange, UNSEEN_MS } from "./arrivals.ts";
import { type FileContent, knownBase } from "./file-edit.ts";
import type { FileState } from "./file-state.ts";
import { type ArrivalOptions, noteFromGit } from "./note-arrival.ts";
import { SpanSet } from "./span-set.ts";
import { contentLines, linesOf } from "./text-lines.ts";

/** What git has put into a tracked file with another commit. */
export interface PutByGit {
  readonly committed: string;
  readonly file: FileContent;
  /** What the file had before. */
  readonly from: FileState;
  /** What it has now. */
  readonly to: FileState;
  /** Somebody has saved over it before anybody looked. */
  readonly isSavedOver: boolean;
}

/**
 * Notes what a commit has brought into a file as an arrival: an editor that has the file open shows
 * the text of before, just as it does after a write of ours. What has stood there for a minute
 * everybody has seen.
 */
export async function notePutByGit(
  context: WriteContext<DaemonTables>,
  open: OpenDocument,
  {
    committed,
    file,
    from,
    to,
    isSavedOver,
    options,
  }: PutByGit & { readonly options: ArrivalOptions },
): Promise<void> {
  const isSeen = !isSavedOver && context.now - file.savedAt >= UNSEEN_MS;
  if (from.hash === to.hash || isSeen) return;
  const all = changeBetween({ ...from, base: knownBase(open, from.base) }, to);
  const change =
    all &&
    ofCommit(all, to, {
      lines: contentLines(committed),
      stays: new Set(contentLines(open.document.content())),
      isWhole: file.content === committed,
    });
  if (change) await noteFromGit(context, open, { ...options, change });
}

/** The part of a file's change that is the commit's, and not a person's beside it. */
function ofCommit(
  { brought, taken, moved, former }: FileChange,
  to: FileState,
  {
    lines,
    stays,
    isWhole,
  }: {
    readonly lines: readonly string[];
    /** The document's lines: what stays there only waits elsewhere, as in a stash. */
    readonly stays: ReadonlySet<string>;
    readonly isWhole: boolean;
  },
): FileChange {
  const texts = new Set(lines);
  const standing = linesOf(to.base);
  const pairs = commonLines(
    standing.map(({ text }) => withoutMark(text)),
    lines,
  );
  const own = new SpanSet(pairs.flatMap(([at]) => standing[at]?.spans ?? []));
  const fresh = new SpanSet(brought);
  return {
    brought: fresh.without(fresh.without(own)).spans(),
    taken: taken.filter((line) => !texts.has(line) && !stays.has(line)),
    moved: moved.filter((line) => texts.has(line)),
    former: isWhole ? former : undefined,
  };
}

/**
 * Whether a text has all that a file had beyond an older commit, and lacks what it lacked: nothing
 * in it waited to be committed when git put the text there.
 */
export function hasChangesOf(
  saved: string,
  { before, after }: { readonly before: string; readonly after: string },
): boolean {
  const [had, was, has] = [contentLines(saved), contentLines(before), contentLines(after)];
  const [stays, returns] = [new Map(commonLines(had, has)), new Map(commonLines(was, has))];
  return diffLines(was, had).every(({ at, removed, from, added }) => {
    const isThere = had.slice(from, from + added).every((line, index) => {
      return !hasWord(line) || stays.has(from + index);
    });
    const isGone = was.slice(at, at + removed).every((line, index) => {
      return !hasWord(line) || !returns.has(at + index);
    });
    return isThere && isGone;
  });
}
