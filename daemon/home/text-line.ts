import { withoutAllowMark } from "./allow-mark.ts";

/** Fewer letters and digits than this are no line of anybody's. */
const OWN_LENGTH_MIN = 6;
/** One word is in anybody's file: a language, a program, a heading without its sign. */
const OWN_WORDS_MIN = 2;
/** A passage of so many letters, in so many words, stands in another text by no chance. */
export const PASSAGE_LENGTH_MIN = 20;
const LONG_WORDS_MIN = 4;

/** What has no spaces between its words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const NO_LETTERS = /[^\p{L}\p{M}\p{N}]+|\p{Default_Ignorable_Code_Point}+/gu;
/** Numbers and boxes before the words of a line: `1.`, `a)`, `[x]`, and a number in a circle. */
const NUMBERED = /^(?:[^\p{L}\p{M}\p{N}]*(?:(?:\p{Nd}{1,3}|\p{L})[.):\]]+(?=\s)|\p{No}))+/u;
/** What a page shows as no letters: an element, and a sign by its name. */
const MARKUP = /<\/?[a-z][^<>]*>|&(?:[a-z]{2,8}|#x?[\da-f]{1,6});/gi;

/**
 * What a line says, by its letters and digits alone: an editor, an assistant or another system may
 * change its case, its signs and its spaces, how it is numbered, and how a letter is encoded. The
 * mark that allows a secret says nothing about whose it is.
 */
export function lettersOf(line: string): string {
  const marked = withoutAllowMark(line);
  const bare = /[<&]/.test(marked) ? marked.replace(MARKUP, "") : marked;
  // The same as below, in a third of the time.
  if (!/[^ -~\t\r]/.test(bare)) {
    return bare
      .replace(/^(?:[^a-z\d]*(?:\d{1,3}|[a-z])[.):\]]+(?=\s))+/i, "")
      .replace(/[^a-z\d]+/gi, "")
      .toLowerCase();
  }
  const letters = bare.replace(NUMBERED, "").normalize("NFKC").replace(NO_LETTERS, "");
  return letters.toUpperCase().toLowerCase();
}

/**
 * The lines of a text as releases before noted them: without indentation and the signs of a
 * quotation or a list alone.
 */
export function formerLinesOf(text: string): string[] {
  return text.split("\n").map((line) => {
    const spaced = line.trim().replace(/\s+/g, " ");
    return withoutAllowMark(spaced).replace(/^(?:> ?|[-*+] |\d+[.)] )+/, "");
  });
}

/** A heading, a rule, a fence or a single word is in anybody's file, unless it says a lot. */
export function isOnesOwn(line: string): boolean {
  if (saysALot(line)) return true;
  if (/^\s*(?:#|<!--|```|~~~)|[:：][*_\s]*$/.test(line)) return false;
  const { letters, words } = sizeOf(line);
  return letters >= OWN_LENGTH_MIN && (words >= OWN_WORDS_MIN || UNSPACED.test(line));
}

/** Whether a line says so much that it is known in the midst of a text as well. */
export function saysALot(line: string): boolean {
  const { letters, words } = sizeOf(line);
  return letters >= PASSAGE_LENGTH_MIN && (words >= LONG_WORDS_MIN || UNSPACED.test(line));
}

function sizeOf(line: string): { readonly letters: number; readonly words: number } {
  const words = line.match(WORD) ?? [];
  return { letters: words.reduce((sum, word) => sum + [...word].length, 0), words: words.length };
}
