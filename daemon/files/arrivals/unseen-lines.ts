import {
  joinForm,
  plainLines,
  splitForm,
  withoutMark,
} from "../../../shared/replica/text/text-form.ts";
import type { CameLine } from "./line-arrival-store.ts";

/** A file's text before and after a save. */
export interface SavedOver {
  readonly shown: string;
  readonly saved: string;
}

/** What a save takes away of what its author may not have seen. */
export interface TakenUnseen {
  /** The text of which it is an edit: the one that the file showed, without those lines. */
  readonly base: string;
  readonly lines: readonly string[];
  /** The lines that the save has brought. */
  readonly saved: readonly string[];
}

/**
 * Undefined where a save takes away nothing unseen that stays. `isSame`: whether a line that the
 * save has brought is one that a program has saved here just before, gone on with.
 */
export function takenUnseen(
  sides: SavedOver,
  unseen: readonly CameLine[],
  isSame?: IsSame,
): TakenUnseen | undefined {
  const { taken, brought } = goneUnseen(sides, unseen, isSame);
  const lines = taken.flatMap(({ line, isDisputed }) => (isDisputed ? [] : [line]));
  if (lines.length === 0) return undefined;
  return { base: withoutLast(sides.shown, lines), lines, saved: brought };
}

/** The lines that a save takes away for good, though its author may not have seen them. */
export function disputedLines(
  sides: SavedOver,
  unseen: readonly CameLine[],
  isSame?: IsSame,
): readonly string[] {
  const { taken } = goneUnseen(sides, unseen, isSame);
  return taken.flatMap(({ line, isDisputed }) => (isDisputed ? [line] : []));
}

type IsSame = (line: string, saved: string) => boolean;

function goneUnseen(
  { shown, saved }: SavedOver,
  unseen: readonly CameLine[],
  isSame: IsSame = () => false,
): { readonly taken: readonly CameLine[]; readonly brought: readonly string[] } {
  if (unseen.length === 0) return { taken: [], brought: [] };
  const brought = linesWithout(plainLines(saved), plainLines(shown)).filter(
    (line) => line.trim() !== "",
  );
  const gone = linesWithout(plainLines(shown), plainLines(saved));
  const open = [...brought];
  const taken: CameLine[] = [];
  for (const each of unseen) {
    const { line, isOwn, isGone } = each;
    const at = isGone ? -1 : gone.indexOf(line);
    if (at === -1) continue;
    gone.splice(at, 1);
    const mended = isOwn ? open.findIndex((other) => isSame(line, other)) : -1;
    if (mended === -1) taken.push(each);
    else open.splice(mended, 1);
  }
  return { taken, brought };
}

/** The lines that a save brings back, and of which its author may not have seen that they left. */
export function returnedUnseen(
  { shown, saved }: SavedOver,
  unseen: readonly CameLine[],
): readonly string[] {
  const left = new Set(unseen.flatMap(({ line, isGone }) => (isGone ? [line] : [])));
  const brought = left.size === 0 ? [] : linesWithout(plainLines(saved), plainLines(shown));
  return [...new Set(brought)].filter((line) => left.has(line));
}

/** A text without these lines. Of equal ones the last go. */
export function withoutLast(text: string, lines: readonly string[]): string {
  const { form, lines: all } = splitForm(text);
  const left = [...lines];
  const kept = all
    .split("\n")
    .reverse()
    .filter((each) => {
      const at = left.indexOf(withoutMark(each));
      if (at !== -1) left.splice(at, 1);
      return at === -1;
    });
  return joinForm(kept.reverse().join("\n"), form);
}

/** Those of some lines that others do not have, each as often as it is missing there. */
export function linesWithout(lines: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}
