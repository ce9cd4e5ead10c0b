import { diffLines } from "../../shared/replica/text/line-diff.ts";
import {
  equalForms,
  type ShownForm,
  shownForm,
  withoutMark,
} from "../../shared/replica/text/text-form.ts";
import type { TextSpan } from "../../shared/replica/text/text-spans.ts";
import { type FileState, fileText } from "./file-state.ts";
import { isBlank } from "./line-runs.ts";
import { SpanSet } from "./span-set.ts";
import { type CapturedLine, linesOf } from "./text-lines.ts";

/**
 * After others' change came into a file, a save that undoes it within this time may be from an
 * editor or a program that has not seen the change.
 */
export const UNSEEN_MS = 60_000;

/** What one write of ours brought into a followed file. */
export interface FileChange {
  /** The document's characters that are new in the file. */
  readonly brought: readonly TextSpan[];
  /** The lines, with their breaks, that left the file; not those that only moved. */
  readonly taken: readonly string[];
  /** Lines that left one place and appeared at another. */
  readonly moved: readonly string[];
  /** The text's former line endings and the like, where they changed. */
  readonly former: ShownForm | undefined;
  /** git brought it with a commit. */
  readonly isFromGit?: boolean | undefined;
  /** git has put it back after others' text: the commits of the file that had led to that. */
  readonly backFrom?: readonly string[] | undefined;
}

/** Which characters a change brought. */
export type Brought = Pick<Arrival, "id" | "brought">;

/** When a change came. */
export interface ArrivalTime {
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A change with the time at which it came. */
export interface Arrival extends FileChange, ArrivalTime {
  /** A look has found it in the file a minute after it came. */
  readonly isSeen?: boolean | undefined;
  /** Who made it; undefined where that is not known. */
  readonly machine: string | undefined;
}

/** What changes when a file goes from `from` to `to`; undefined where nothing does. */
export function changeBetween(from: FileState, to: FileState): FileChange | undefined {
  const [had, has] = [new SpanSet(from.base.spans), new SpanSet(to.base.spans)];
  const brought = has.without(had).spans();
  const { moved, taken } = leavingLines(from, to, had.without(has));
  const [was, is] = [shownForm(fileText(from)), shownForm(fileText(to))];
  const former = equalForms(was, is) ? undefined : was;
  return changeOf({ brought, taken, moved, former });
}

/**
 * A change without what was in the file before. A save may have left something out that stayed in
 * the document: when it is written again, it is not new. Undefined where nothing new is left.
 */
export function newIn(
  change: FileChange,
  former: readonly Pick<Brought, "brought">[],
): FileChange | undefined {
  const known = new SpanSet(former.flatMap(({ brought }) => brought));
  return changeOf({ ...change, brought: new SpanSet(change.brought).without(known).spans() });
}

function changeOf(change: FileChange): FileChange | undefined {
  const { brought, taken, moved, former } = change;
  return brought.length + taken.length + moved.length > 0 || former ? change : undefined;
}

/** The document's lines that a write removes from their places; not blank ones. */
function leavingLines(
  from: FileState,
  to: FileState,
  gone: SpanSet,
): Pick<FileChange, "taken" | "moved"> {
  const [before, after] = [linesOf(from.base), linesOf(to.base)];
  const come = new Map<string, number>();
  const left: CapturedLine[] = [];
  for (const hunk of diffLines(textsOf(before), textsOf(after))) {
    left.push(...before.slice(hunk.at, hunk.at + hunk.removed));
    for (const text of textsOf(after.slice(hunk.from, hunk.from + hunk.added))) {
      come.set(text, (come.get(text) ?? 0) + 1);
    }
  }
  const moved: string[] = [];
  const taken: string[] = [];
  for (const { text: line, spans } of left) {
    if (isBlank(line) || !gone.hasAny(spans)) continue;
    const text = withoutMark(line);
    const count = come.get(text) ?? 0;
    if (count > 0) come.set(text, count - 1);
    (count > 0 ? moved : taken).push(text);
  }
  return { moved, taken };
}

function textsOf(lines: readonly CapturedLine[]): string[] {
  return lines.map(({ text }) => withoutMark(text));
}
