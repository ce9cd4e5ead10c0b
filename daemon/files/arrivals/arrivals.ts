import { findCrossings } from "../../../shared/replica/merge/crossings.ts";
import type { SideLine } from "../../../shared/replica/merge/side-lines.ts";
import { diffLines, type LineHunk } from "../../../shared/replica/text/line-diff.ts";
import { isTelling } from "../../../shared/replica/text/neighbour-lines.ts";
import {
  equalForms,
  type ShownForm,
  shownForm,
  withoutMark,
} from "../../../shared/replica/text/text-form.ts";
import type { TextSpan } from "../../../shared/replica/text/text-spans.ts";
import { type FileState, fileText } from "../lines/file-state.ts";
import { isBlank } from "../lines/line-runs.ts";
import { SpanSet } from "../lines/span-set.ts";
import { type CapturedLine, linesOf } from "../lines/text-lines.ts";

/**
 * After others' change came into a file, a save that undoes it within this time may be from an
 * editor or a program that has not seen the change.
 */
export const UNSEEN_MS = 60_000;

/**
 * What one write of ours brought into a followed file.
 *
 * ```
 * // Somebody replaced "old" by a line of three characters.
 * { brought: [{ client: 7, clock: 12, length: 4 }], taken: ["old\n"], moved: [], former };
 * ```
 */
export interface FileChange {
  /** The document's characters that are new in the file. */
  readonly brought: readonly TextSpan[];
  /** The lines, with their breaks, that left the file; not those that only moved. */
  readonly taken: readonly string[];
  /** Lines that left one place and appeared at another. */
  readonly moved: readonly string[];
  /**
   * The document's characters of what was between the two places, which may be what was moved: a
   * diff takes the smaller part for the moved one.
   */
  readonly crossed?: readonly (readonly TextSpan[])[] | undefined;
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
  const leaving = leavingLines(from, to, had.without(has));
  const [was, is] = [shownForm(fileText(from)), shownForm(fileText(to))];
  const former = equalForms(was, is) ? undefined : was;
  return changeOf({ brought, ...leaving, former });
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

/** The document's lines that a write removes from their places, and moves; not blank ones. */
function leavingLines(
  from: FileState,
  to: FileState,
  gone: SpanSet,
): Pick<FileChange, "taken" | "moved" | "crossed"> {
  const [before, after] = [linesOf(from.base), linesOf(to.base)];
  const come = new Map<string, number>();
  const left: CapturedLine[] = [];
  const hunks = diffLines(textsOf(before), textsOf(after));
  for (const hunk of hunks) {
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
  const crossed = moved.length > 0 ? crossedIn(before, after, hunks) : [];
  return { moved, taken, ...(crossed.length > 0 && { crossed }) };
}

/** What stays, and over which something was moved: all between its former and its new place. */
function crossedIn(
  before: readonly CapturedLine[],
  after: readonly CapturedLine[],
  hunks: readonly LineHunk[],
): (readonly TextSpan[])[] {
  const spans = new Map<SideLine, readonly TextSpan[]>();
  const lines: SideLine[] = [];
  const add = (each: readonly CapturedLine[], how: Pick<SideLine, "side" | "gone">) => {
    for (const line of each) {
      const sideLine = { ...how, text: withoutMark(line.text), from: 0, to: 0 };
      lines.push(sideLine);
      spans.set(sideLine, line.spans);
    }
  };
  let next = 0;
  for (const { at, removed, from, added } of [...hunks, endOf(before, after)]) {
    const stays = at - next;
    add(after.slice(from - stays, from), { side: "base", gone: NOT_GONE });
    add(before.slice(at, at + removed), { side: "base", gone: { ...NOT_GONE, theirs: true } });
    add(after.slice(from, from + added), { side: "theirs", gone: NOT_GONE });
    next = at + removed;
  }
  return findCrossings(lines, "theirs").flatMap(({ between }) => {
    const stay = lines
      .slice(...between)
      .filter(({ side, gone }) => side === "base" && !gone.theirs);
    const isSaid = stay.some(({ text }) => isTelling(text));
    return isSaid ? [stay.flatMap((line) => spans.get(line) ?? [])] : [];
  });
}

const NOT_GONE = { mine: false, theirs: false };

function endOf(before: readonly CapturedLine[], after: readonly CapturedLine[]): LineHunk {
  return { at: before.length, removed: 0, from: after.length, added: 0 };
}

function textsOf(lines: readonly CapturedLine[]): string[] {
  return lines.map(({ text }) => withoutMark(text));
}
