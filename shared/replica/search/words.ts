import { withPlainLetters } from "./letters.ts";

/**
 * The words of a text as a search finds them, where the database has no index that makes them: each
 * between two spaces, without case and accents, by the rules of FTS5's `unicode61`
 * (https://www.sqlite.org/fts5.html#unicode61_tokenizer).
 *
 * ```
 * spacedWords("Łódź, 1:00"); // " lodz 1 00 "
 * ```
 */
export function spacedWords(text: string): string {
  const words = withPlainLetters(text).match(WORD) ?? [];
  return words.length === 0 ? "" : ` ${words.map(folded).join(" ")} `;
}

/** A mark belongs to the letter before it, and is dropped. */
const WORD = /[\p{L}\p{N}\p{Co}](?:[\p{L}\p{N}\p{Co}]|[\u0300-\u036f])*/gu;

const ACCENTS = /[\u0300-\u036f]/gu;

/** Forms of a letter that are not its small one. */
const FORMS: Readonly<Record<string, string>> = {
  µ: "μ",
  ς: "σ",
  ϐ: "β",
  ϑ: "θ",
  ϕ: "φ",
  ϖ: "π",
  ϰ: "κ",
  ϱ: "ρ",
  ϵ: "ε",
  ſ: "s",
};

const OTHER_FORMS = new RegExp(`[${Object.keys(FORMS).join("")}]`, "gu");

/** Of letters with accents only those of the Latin alphabet lose them. */
const LATIN = /\p{Script=Latin}/u;

function folded(word: string): string {
  let plain = "";
  for (const letter of word) {
    const isLatin = letter > "\u007f" && LATIN.test(letter);
    plain += isLatin ? letter.normalize("NFD") : letter;
  }
  const small = plain.toLowerCase().replace(ACCENTS, "");
  return small.replace(OTHER_FORMS, (form) => FORMS[form] ?? form);
}
