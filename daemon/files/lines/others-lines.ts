import { comparedWords, likeness } from "../../../shared/replica/text/likeness.ts";
import { hasWord } from "../../../shared/replica/text/line-diff.ts";
import type { RemovedText } from "../../../shared/replica/text/removed-text.ts";
import { withoutMark } from "../../../shared/replica/text/text-form.ts";

/** Whether a line that this machine wrote says what others have written. */
export type SaysOthers = (line: string) => boolean;

/**
 * Whoever moves, indents, mends or chooses others' lines writes them anew, and what this machine
 * took away for that, oldest first, tells so. `isOwn`: whether it had written what it took away.
 * What is committed nobody has to save from git, unless the file has it more often.
 */
export function saysOthers(
  removed: readonly RemovedText[],
  {
    isOwn,
    committed,
    known,
  }: {
    readonly isOwn: (piece: RemovedText) => boolean;
    readonly committed: readonly string[];
    readonly known: readonly string[];
  },
): SaysOthers {
  const countIn = (lines: readonly string[], line: string) =>
    lines.filter((each) => each.replace(/\n$/, "") === line).length;
  const isCommitted = (line: string) => {
    const count = countIn(committed, line);
    return count > 0 && count >= countIn(known, line);
  };
  const theirs: (readonly string[])[] = [];
  const texts = committed.map(comparedWords);
  const says: SaysOthers = (line) => {
    const words = comparedWords(line);
    const alike = Math.max(0, ...theirs.map((each) => likeness(words, each)));
    // What was made of a committed line, more likely than of theirs, is this machine's.
    return alike > 0 && !texts.some((each) => likeness(words, each) > alike);
  };
  for (const piece of removed) {
    for (const line of piece.text.split("\n").map(withoutMark)) {
      if (!hasWord(line) || isCommitted(line)) continue;
      if (!isOwn(piece) || says(line)) theirs.push(comparedWords(line));
    }
  }
  return says;
}
