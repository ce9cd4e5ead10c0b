import { plainLines } from "../../../shared/replica/text/text-form.ts";
import type { SavedOver } from "../../files/arrivals/unseen-lines.ts";
import { linesWithout } from "../../files/arrivals/unseen-lines.ts";
import type { PersonalMerge } from "./personal-status.ts";
import type { PersonalVersion } from "./version.ts";

/** An earlier text that stands in a block again. */
interface FormerText {
  readonly former: PersonalVersion;
  /** The text as it counts. */
  readonly current: PersonalVersion | undefined;
  readonly merges: readonly PersonalMerge[];
  /** Lines that stayed, and that somebody takes away once more. */
  readonly disputed: readonly string[];
}

/**
 * Whether somebody has come to an earlier text by an edit of what the block showed, rather than by
 * putting it back: all that he did is to take out lines that he is told of, of two wordings one. As
 * soon as any other line goes with them, or one comes back, nobody can tell.
 */
export function isMeantAsEdit(
  { shown, saved }: SavedOver,
  { former, current, merges, disputed }: FormerText,
): boolean {
  const [before, after] = [plainLines(shown), plainLines(saved)];
  const isText = (line: string) => line.trim() !== "";
  const gone = linesWithout(before, after).filter(isText);
  if (gone.length === 0 || linesWithout(after, before).some(isText)) return false;
  const isUnited = merges.some(({ mine }) => mine === undefined);
  // Nothing but the two texts is known of such a merge.
  if (isUnited && current?.parents.slice(0, 2).includes(former.id)) return true;
  const stands = new Set(after);
  const told = new Set([...disputed, ...merges.flatMap((merge) => otherWording(merge, stands))]);
  return gone.every((line) => told.has(line));
}

/** The lines of one wording, where those of the other stand. */
function otherWording({ mine, theirs }: PersonalMerge, stands: ReadonlySet<string>): string[] {
  if (mine === undefined || theirs === undefined) return [];
  const [one, other] = [plainLines(mine), plainLines(theirs)];
  const areThere = (lines: readonly string[]) => lines.every((line) => stands.has(line));
  return [...(areThere(one) ? other : []), ...(areThere(other) ? one : [])];
}
