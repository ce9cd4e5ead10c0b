/** The 150 pairs of letters that the words of some 1,100 documents of programs have most often. */
const PAIRS = new Set(
  (
    "ab ac ad ag ai al am an ap ar as at ba be bl bo bu ca ce ch ci ck cl co cr ct cu da de di " +
    "do ea ec ed ee ef el em en ep er es et ev ex fe ff fi fo ge gi gr ha he hi ho ia ic id ie " +
    "if ig il im in io ip ir is it iv ke la le li ll lo ly ma me mi mo mp na nc nd ne ng ni no " +
    "ns nt oc od ol om on oo op or os ot ou ow pa pe pi pl po pp pr pt qu ra re ri rm ro rr rs " +
    "rt ry sa sc se sh si so sp ss st su ta te th ti to tr ts tt tu ty ul un ur us ut va ve vi"
  ).split(" "),
);
/** Fewer letters show nothing. */
const LETTERS_MIN = 8;

/**
 * Whether these are words by their letters: at least half of the pairs of neighbours are frequent
 * ones. Of letters that are drawn at random fewer than a quarter is.
 */
export function isSpelt(words: readonly string[]): boolean {
  let pairs = 0;
  let frequent = 0;
  for (const word of words) {
    const lower = word.toLowerCase();
    for (let at = 0; at + 1 < lower.length; at++) {
      pairs++;
      if (PAIRS.has(lower.slice(at, at + 2))) frequent++;
    }
  }
  const letters = words.reduce((sum, { length }) => sum + length, 0);
  return letters < LETTERS_MIN || frequent >= pairs / 2;
}
