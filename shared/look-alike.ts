/** Letters of other scripts that look like a Latin one, each followed by that. */
const ALIKE = new Map(
  (
    "аa вb еe кk мm нh оo рp сc тt уy хx іi јj ѕs ԁd һh ԛq ԝw ӏl ѵv ԍg ɡg " +
    "αa βb εe ηn ιi κk νv οo ρp τt υu χx γy ıi ȷj łl øo đd ħh ŧt"
  )
    .split(" ")
    .map((pair) => [...pair])
    .map(([letter = "", latin = ""]) => [letter, latin] as const),
);
const MARKS = /[\p{M}\p{Default_Ignorable_Code_Point}]+/gu;
const ENDING = /\.(?:md|mdx|markdown|txt)$/;
const SEPARATORS = /[\s_\-–—./\\:]+/g;
/** Characters that are named at most. */
const NAMED_MAX = 3;

/**
 * What a key looks like: keys with the same looks are told apart by hardly anybody. `NFKD` has one
 * form for letters in other widths and styles.
 */
function lookOf(key: string): string {
  const lower = key.toLowerCase();
  const letters = /[^ -~]/.test(lower) ? inLatin(lower) : lower;
  return letters.replace(ENDING, "").replace(SEPARATORS, "-").replace(/^-|-$/g, "");
}

function inLatin(key: string): string {
  const plain = key.normalize("NFKD").replace(MARKS, "").toLowerCase();
  return [...plain].map((each) => ALIKE.get(each) ?? each).join("");
}

/** Scripts whose letters look like Latin ones. */
const OTHER_SCRIPTS = /[\p{sc=Cyrillic}\p{sc=Greek}]/u;
const LETTERS = /[\p{sc=Cyrillic}\p{sc=Greek}]/gu;

const WORDS = /[\p{L}\p{M}]+/gu;

/**
 * A text in which words that only seem to be Latin are, in small letters; a word that has any other
 * letter of its script is written in that.
 */
export function inLatinLetters(text: string): string {
  if (!OTHER_SCRIPTS.test(text)) return text;
  return text.replace(WORDS, (word) => {
    if (!OTHER_SCRIPTS.test(word)) return word;
    const latin = word.toLowerCase().replace(LETTERS, (each) => ALIKE.get(each) ?? each);
    return OTHER_SCRIPTS.test(latin) ? word : latin;
  });
}

/** The first of these keys that looks like a key, and is another one. */
export function findLookAlike(key: string, keys: readonly string[]): string | undefined {
  const look = lookOf(key);
  return keys.find((each) => each !== key && lookOf(each) === look);
}

/**
 * By what one of two keys that look alike can be told: the characters that are no plain letters and
 * that the other one lacks.
 *
 * ```
 * toldBy("nоtes", "notes"); // '"о" (U+043E)'
 * ```
 */
export function toldBy(key: string, other: string): string {
  const signs = [...new Set(key)].filter((each) => each > "\u007f");
  const lacked = signs.filter((each) => !other.includes(each)).slice(0, NAMED_MAX);
  const codeOf = (each: string) => (each.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return lacked.map((each) => `"${each}" (U+${codeOf(each).padStart(4, "0")})`).join(", ");
}
