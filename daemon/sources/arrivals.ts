import { diffLines } from "../../shared/replica/line-diff.ts";
import type { TextSpan } from "../../shared/replica/text-spans.ts";
import { equalForms, type TextForm } from "../../shared/replica/text-form.ts";
import type { FileState } from "./file-state.ts";
import { isBlank } from "./line-runs.ts";
import { type CapturedLine, linesOf, overlap, without } from "./text-lines.ts";

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
  readonly former: TextForm | undefined;
}

/** One that came at a known time. */
export interface Arrival extends FileChange {
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** Who made it; undefined where that is not known. */
  readonly machine: string | undefined;
}

/**
 * What a write over `from` by `to` brings and takes. Characters in `known` came before: what comes
 * a second time, because a save left it out and it stayed, is not new. Undefined: nothing is.
 */
export function changeBetween(
  from: FileState,
  to: FileState,
  known: readonly TextSpan[],
): FileChange | undefined {
  const brought = without(without(to.base.spans, from.base.spans), known);
  const { moved, taken } = leavingLines(from, to);
  const former = equalForms(from.form, to.form) ? undefined : from.form;
  const isNothing = brought.length + taken.length + moved.length === 0 && !former;
  return isNothing ? undefined : { brought, taken, moved, former };
}

/** The document's lines that a write takes from their places, but for blank ones. */
function leavingLines(from: FileState, to: FileState): Pick<FileChange, "taken" | "moved"> {
  const [before, after] = [linesOf(from.base), linesOf(to.base)];
  const gone = without(from.base.spans, to.base.spans);
  const come = new Map<string, number>();
  const left: CapturedLine[] = [];
  for (const hunk of diffLines(textsOf(before), textsOf(after))) {
    left.push(...before.slice(hunk.at, hunk.at + hunk.removed));
    for (const { text } of after.slice(hunk.from, hunk.from + hunk.added)) {
      come.set(text, (come.get(text) ?? 0) + 1);
    }
  }
  const moved: string[] = [];
  const taken: string[] = [];
  for (const { text, spans } of left) {
    if (isBlank(text) || !overlap(spans, gone)) continue;
    const count = come.get(text) ?? 0;
    if (count > 0) come.set(text, count - 1);
    (count > 0 ? moved : taken).push(text);
  }
  return { moved, taken };
}

function textsOf(lines: readonly CapturedLine[]): string[] {
  return lines.map(({ text }) => text);
}
