/** The part of the longer line's words that the other must have. */
const ALIKE_MIN = 0.5;
const COMMON_MIN = 2;

/** Whether one line is the other, or looks like the other with some words mended. */
export function isMendedLine(one: string, other: string): boolean {
  if (one === other) return true;
  const [words, left] = [wordsOf(one), wordsOf(other)];
  const longer = Math.max(words.length, left.length);
  let common = 0;
  for (const word of words) {
    const at = left.indexOf(word);
    if (at === -1) continue;
    left.splice(at, 1);
    common += 1;
  }
  return common >= COMMON_MIN && common >= ALIKE_MIN * longer;
}

/** A mark of a list is none. */
function wordsOf(line: string): string[] {
  return line.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
}
