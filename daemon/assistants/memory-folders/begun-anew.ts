import { LinesByWord } from "../../../shared/replica/text/likeness.ts";
import { isTelling } from "../../../shared/replica/text/neighbour-lines.ts";
import { plainLines } from "../../../shared/replica/text/text-form.ts";

/**
 * Whether a text has nothing of what a memory had in these versions: no line that is one of theirs,
 * or that was made of one. Else it may be an old copy, saved once more by an editor that has not
 * heard of the deletion. Where no version is kept any more nobody can say so.
 */
export function isBegunAnew(text: string, versions: readonly string[]): boolean {
  if (versions.length === 0) return false;
  const texts = new Set(versions.flatMap(withoutTitle));
  const had = new LinesByWord([...texts].map((line) => ({ text: line })));
  return plainLines(text)
    .filter(isTelling)
    .every((line) => had.mostAlike(line).length === 0);
}

/** What a version says beyond its title, which another text under its name may have as well. */
function withoutTitle(version: string): string[] {
  const lines = plainLines(version).filter(isTelling);
  return lines.length > 1 && lines[0]?.startsWith("# ") ? lines.slice(1) : lines;
}
