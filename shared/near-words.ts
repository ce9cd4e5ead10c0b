/**
 * How many letters a word must have for each slip that is allowed. With more slips it is another
 * word.
 */
const LETTERS_PER_SLIP = 3;
/** The most slips for a word of any length; with more it is another word. */
const SLIPS_MAX = 3;

/**
 * The words of `known` that were probably meant by `word`: those with the fewest slips, in the
 * order of `known`. None if there are too many slips for a word of this length.
 */
export function nearWords(word: string, known: readonly string[]): string[] {
  let fewest = Math.min(SLIPS_MAX, Math.floor(word.length / LETTERS_PER_SLIP));
  let near: string[] = [];
  for (const each of new Set(known)) {
    if (Math.abs(each.length - word.length) > fewest) continue;
    const slips = slipsBetween(word.toLowerCase(), each.toLowerCase());
    if (slips > fewest) continue;
    if (slips < fewest) near = [];
    fewest = slips;
    near.push(each);
  }
  return near;
}

/**
 * How many letters were left out, added, replaced, or exchanged with the next one (optimal string
 * alignment distance).
 */
function slipsBetween(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, at) => at);
  const at = (from: readonly number[], index: number) => from[index] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isExchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const exchanged = isExchange ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1, exchanged));
    }
    [before, row] = [row, next];
  }
  return at(row, b.length);
}
