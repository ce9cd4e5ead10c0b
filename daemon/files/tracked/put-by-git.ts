import type { OpenDocument } from "../../../shared/replica/store/open-document.ts";
import type { WriteContext } from "../../../shared/replica/store/write-context.ts";
import { commonLines, diffLines, hasWord } from "../../../shared/replica/text/line-diff.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";
import type { DaemonTables } from "../../home/tables.ts";
import { changeBetween, type FileChange, UNSEEN_MS } from "../arrivals/arrivals.ts";
import { type FileState, fileText } from "../lines/file-state.ts";
import { indicesFrom } from "../lines/line-runs.ts";
import { SpanSet } from "../lines/span-set.ts";
import { type CapturedLine, contentLines, linesOf } from "../lines/text-lines.ts";
import { type ArrivalOptions, noteFromGit } from "../saves/note-arrival.ts";
import { type FileContent, knownBase } from "../state/file-edit.ts";
import type { FromGit } from "../state/follow-facts.ts";

/** What git has put into a tracked file, or somebody has taken from there. */
export interface PutByGit {
  readonly ofGit: FromGit;
  readonly file: FileContent;
  /** What the file had before. */
  readonly from: FileState;
  /** What it has now. */
  readonly to: FileState;
  /** When it came, by git's log; a file's own time says less, for programs set it. */
  readonly putAt: number | undefined;
  /** Somebody has saved over it before anybody looked. */
  readonly isSavedOver: boolean;
}

/**
 * Notes what a commit has brought into a file as an arrival: an editor that has the file open shows
 * the text of before, just as it does after a write of ours. What has stood there for a minute
 * everybody has seen. Returns the arrival, if there is one.
 */
export async function notePutByGit(
  context: WriteContext<DaemonTables>,
  open: OpenDocument,
  {
    ofGit,
    file,
    from,
    to,
    putAt,
    isSavedOver,
    options,
  }: PutByGit & { readonly options: ArrivalOptions },
): Promise<number | undefined> {
  const cameAt = Math.max(file.savedAt, putAt ?? 0);
  const isSeen = !isSavedOver && context.now - cameAt >= UNSEEN_MS;
  if (from.hash === to.hash || isSeen) return undefined;
  const all = changeBetween({ ...from, base: knownBase(open, from.base) }, to);
  if (!all) return undefined;
  const change = ofCommit(all, {
    had: contentLines(fileText(from)),
    has: linesOf(to.base),
    ofGit,
    stays: new Set(contentLines(open.document.content())),
  });
  const former = file.content === ofGit.after ? all.former : undefined;
  return await noteFromGit(context, open, { ...options, change: { ...change, former } });
}

/** The part of a file's change that is the commit's, and not a person's beside it. */
function ofCommit(
  { brought, taken, moved, crossed }: FileChange,
  {
    had,
    has,
    ofGit,
    stays,
  }: {
    readonly had: readonly string[];
    readonly has: readonly CapturedLine[];
    readonly ofGit: FromGit;
    /** The document's lines: what stays there only waits elsewhere, as in a stash. */
    readonly stays: ReadonlySet<string>;
  },
): Omit<FileChange, "former"> {
  const before = ofGit.before === undefined ? undefined : contentLines(ofGit.before);
  const committed = contentLines(ofGit.after);
  const texts = has.map(({ text }) => withoutMark(text));
  const ofIt = new Map(commonLines(texts, committed));
  const isNew = before && new Set(addedIn(before, committed));
  const isOfIt = (at: number) => {
    const twin = ofIt.get(at);
    return twin !== undefined && (!isNew || isNew.has(twin));
  };
  // What others have moved consists of new characters, though the file had it before.
  const added = addedIn(had, texts);
  const own = new SpanSet(added.flatMap((at) => (isOfIt(at) ? (has[at]?.spans ?? []) : [])));
  const fresh = new SpanSet(brought);
  const inCommit = new Set(committed);
  const wasThere = before && new Set(before);
  const isGone = (line: string) => !inCommit.has(line) && (!wasThere || wasThere.has(line));
  return {
    brought: fresh.without(fresh.without(own)).spans(),
    taken: taken.filter((line) => isGone(line) && !stays.has(line)),
    // Of what is only fetched, a person may have moved the same lines.
    moved: before ? [] : moved.filter((line) => inCommit.has(line)),
    ...(!before && { crossed }),
  };
}

/** The lines that a text has beyond another, by their indices. */
function addedIn(before: readonly string[], after: readonly string[]): number[] {
  return diffLines(before, after).flatMap((hunk) => indicesFrom(hunk.from, hunk.added));
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
