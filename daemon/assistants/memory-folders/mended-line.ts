/** The part of the longer line's words that the other must have. */
const ALIKE_MIN = 0.5;
const COMMON_MIN = 2;

/** Whether one line is the other, or looks like the other with some words mended. */
export function isMendedLine(one: string, other: string): boolean {
  if (one === other) return true;
  const { common, isHalf } = commonWords(one, other);
  return common >= COMMON_MIN && isHalf;
}

/** The same of a later line, which may also go on with all of the earlier one. */
export function isWording(line: string, later: string): boolean {
  return later.startsWith(line) || isMendedLine(line, later);
}

/** Whether two lines that were written in one place may be versions of one line. */
export function mayBeVersions(one: string, other: string): boolean {
  const { common, isHalf } = commonWords(one, other);
  return common > 0 && isHalf;
}

function commonWords(one: string, other: string) {
  const [words, left] = [wordsOf(one), wordsOf(other)];
  const longer = Math.max(words.length, left.length);
  let common = 0;
  for (const word of words) {
    const at = left.indexOf(word);
    if (at === -1) continue;
    left.splice(at, 1);
    common += 1;
  }
  return { common, isHalf: common >= ALIKE_MIN * longer };
}

/** A mark of a list is none. */
function wordsOf(line: string): string[] {
  return line.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
}
