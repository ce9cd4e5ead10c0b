/** Letters that are not an ordinary one with an accent, and what people type for them. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  ǣ: "ae",
  ǽ: "ae",
  œ: "oe",
  ø: "o",
  ǿ: "o",
  đ: "d",
  ð: "d",
  ł: "l",
  ħ: "h",
  ŧ: "t",
  ı: "i",
  þ: "th",
};

const OTHER_LETTERS = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "giu");

/**
 * A text with letters of the alphabet for those that stand for one or two of them, which the index
 * takes for letters of their own. What it has indexed has to be known when a row changes, so other
 * letters need a migration that makes the index anew.
 *
 * ```
 * withPlainLetters("Łódź"); // "lódź"
 * ```
 */
export function withPlainLetters(text: string): string {
  return text.replace(OTHER_LETTERS, (letter) => LETTERS[letter.toLowerCase()] ?? letter);
}
