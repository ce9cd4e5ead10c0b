import { withoutAllowMark } from "./allow-mark.ts";

/** Fewer letters and digits than this are no line of anybody's. */
const OWN_LENGTH_MIN = 6;
/** One word is in anybody's file: a language, a program, a heading without its sign. */
const OWN_WORDS_MIN = 2;

/** What has no spaces between its words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;

/**
 * The lines of a text, each without what an editor changes about one: its indentation, and the
 * signs of a quotation or a list. The mark that allows a secret says nothing about whose it is.
 */
export function bareLinesOf(text: string): string[] {
  return text.split("\n").map((line) => {
    const spaced = line.trim().replace(/\s+/g, " ");
    return withoutAllowMark(spaced).replace(/^(?:> ?|[-*+] |\d+[.)] )+/, "");
  });
}

/** A heading, a rule, a fence or a single word is in anybody's file. */
export function isOnesOwn(line: string): boolean {
  if (/^(?:#|<!--|```|~~~)|:$/.test(line)) return false;
  const words = line.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const letters = words.reduce((sum, word) => sum + [...word].length, 0);
  return letters >= OWN_LENGTH_MIN && (words.length >= OWN_WORDS_MIN || UNSPACED.test(line));
}
