import { hasWord } from "../../shared/replica/text/line-diff.ts";
import type { RemovedText } from "../../shared/replica/text/removed-text.ts";
import { withoutMark } from "../../shared/replica/text/text-form.ts";

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
  const texts = committed.map(wordsOf);
  const says: SaysOthers = (line) => {
    const words = wordsOf(line);
    const likeness = Math.max(0, ...theirs.map((each) => alike(words, each)));
    // What was made of a committed line, more likely than of theirs, is this machine's.
    return likeness > 0 && !texts.some((each) => alike(words, each) > likeness);
  };
  for (const piece of removed) {
    for (const line of piece.text.split("\n").map(withoutMark)) {
      if (!hasWord(line) || isCommitted(line)) continue;
      if (!isOwn(piece) || says(line)) theirs.push(wordsOf(line));
    }
  }
  return says;
}

/** From 0 to 1; 0 where one is not the other with some words mended, or more of them. */
function alike(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return 0;
  if (one.join(" ") === other.join(" ")) return 1;
  const left = [...other];
  for (const word of one) {
    const at = left.indexOf(word);
    if (at !== -1) left.splice(at, 1);
  }
  const common = other.length - left.length;
  const isMended = common >= 2 && common * 2 >= Math.min(one.length, other.length);
  return isMended ? common / Math.max(one.length, other.length) : 0;
}

/** Neither a mark of a list, nor an indentation, nor a full stop is a word. */
function wordsOf(line: string): string[] {
  return line.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
