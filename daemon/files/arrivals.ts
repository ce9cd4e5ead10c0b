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
 * For so long after others' change has first come into a file, a save that undoes it may be that of
 * an editor or a program that has not seen it.
 */
export const UNSEEN_MS = 60_000;

/** A change of others' that one write of ours brought into a followed file. */
export interface FileChange {
  /** The document's characters that were new in the file. */
  readonly brought: readonly TextSpan[];
  /** The lines, with their breaks, that left the file, but for those that moved. */
  readonly taken: readonly string[];
  /** Lines that left one place and came at another. */
  readonly moved: readonly string[];
  /** How the text was written down before, where that changed. */
  readonly former: ShownForm | undefined;
}

/** Which characters a change has brought. */
export type Brought = Pick<Arrival, "id" | "brought">;

/** When a change came. */
export interface ArrivalTime {
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** One that came at a known time. */
export interface Arrival extends FileChange, ArrivalTime {
  /** Who made it; undefined where that is not known. */
  readonly machine: string | undefined;
}

/** What a write over `from` by `to` brings and takes; undefined: nothing. */
export function changeBetween(from: FileState, to: FileState): FileChange | undefined {
  const [had, has] = [new SpanSet(from.base.spans), new SpanSet(to.base.spans)];
  const brought = has.without(had).spans();
  const { moved, taken } = leavingLines(from, to, had.without(has));
  const [was, is] = [shownForm(fileText(from)), shownForm(fileText(to))];
  const former = equalForms(was, is) ? undefined : was;
  return changeOf({ brought, taken, moved, former });
}

/**
 * A change without what came before: what comes a second time, because a save left it out and it
 * stayed, is not new. Undefined: nothing is.
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

/** The document's lines that a write takes from their places, but for blank ones. */
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
