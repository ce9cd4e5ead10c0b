import { comparedWords, LinesByWord, likeness } from "../../../shared/replica/text/likeness.ts";
import type { LineHunk } from "../../../shared/replica/text/line-diff.ts";
import { isTelling } from "../../../shared/replica/text/neighbour-lines.ts";
import { indicesFrom } from "./line-runs.ts";

/** The lines that a file had, and those of a save. */
interface SavedEdit {
  readonly shown: readonly string[];
  readonly after: readonly string[];
  readonly hunks: readonly LineHunk[];
}

/** A saved line that was made of one that others took out. */
export interface MendedReturn {
  readonly at: number;
  /** The line that it takes the place of, if it was made of that as well: the two were joined. */
  readonly joinedTo: number | undefined;
}

/**
 * Finds the saved lines that were made of those that others took out: an editor that has not seen
 * that they are gone may mend, split, join or move them. A line is taken for one made of what it is
 * most alike to, and first for one made of what it takes the place of. `taken`: what one change
 * took out; `brought`: what it brought, of which it may have made the rest.
 */
export function findMended(
  { shown, after, hunks }: SavedEdit,
  taken: readonly string[],
  brought: readonly string[],
): MendedReturn[] {
  const known = new LinesByWord(brought.filter(isTelling).map((text) => ({ text })));
  const out = taken.filter((text) => isTelling(text) && known.mostAlike(text).length === 0);
  if (out.length === 0) return [];
  const gone = out.map((text) => ({ text, at: -1 }));
  const had = shown.map((text, at) => ({ text, at })).filter(({ text }) => isTelling(text));
  const all = new LinesByWord([...gone, ...had]);
  return hunks.flatMap(({ at: first, removed, from, added }) => {
    return indicesFrom(from, added).flatMap((at): MendedReturn[] => {
      const text = after[at] ?? "";
      if (!isTelling(text)) return [];
      const of = all.mostAlike(text);
      const replaced = of.find((line) => line.at >= first && line.at < first + removed);
      if (!replaced) return of.some((line) => line.at === -1) ? [{ at, joinedTo: undefined }] : [];
      const rest = restOf(text, replaced.text);
      const isJoined = out.some((line) => likeness(rest, comparedWords(line)) > 0);
      return isJoined ? [{ at, joinedTo: replaced.at }] : [];
    });
  });
}

/** The words of a line that another one lacks. */
function restOf(line: string, other: string): string[] {
  const left = comparedWords(other);
  return comparedWords(line).filter((word) => {
    const at = left.indexOf(word);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}
