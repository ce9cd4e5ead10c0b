import { withoutAllowMark } from "./allow-mark.ts";
import { withoutEncodings } from "./letter-encodings.ts";

/** Fewer letters and digits than this are no line of anybody's. */
const OWN_LENGTH_MIN = 6;
/** One word is in anybody's file: a language, a program, a heading without its sign. */
const OWN_WORDS_MIN = 2;
/** A passage of so many letters, in so many words, stands in another text by no chance. */
const PASSAGE_LENGTH_MIN = 20;
const LONG_WORDS_MIN = 4;

/** What has no spaces between its words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;
/** Each says what several letters say elsewhere, and counts twice. */
const IDEOGRAM = /\p{sc=Han}/gu;

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const NO_LETTERS = /[^\p{L}\p{M}\p{N}]+|\p{Default_Ignorable_Code_Point}+/gu;
/** How a line is numbered, before its words: `1.`, `1.2`, `a)`, `[x]`, `7→`, `（1）`, `一、`, ①. */
const NUMBERED = new RegExp(
  "^(?:[^\\p{L}\\p{M}\\p{N}]*(?:" +
    [
      "(?:\\p{L}|[ivx]{1,4})[.):\\]]+(?![\\p{L}\\p{M}\\p{N}])",
      "\\p{Nd}{1,4}(?:\\.\\p{Nd}{1,3})+(?![\\p{L}\\p{M}\\p{N}])",
      "\\p{Nd}{1,4}(?:\\.\\p{Nd}{1,3})*\\s*\\\\?[.):\\]|\\t、．）：→]",
      "[一二三四五六七八九十]{1,3}[、．.）)：:]",
      "\\p{No}",
    ].join("|") +
    "))+",
  "u",
);

/** HTML's elements that stand in texts: other words between angle brackets are a person's. */
const ELEMENT =
  "(?:abbr|article|aside|b|blockquote|body|br|center|cite|code|dd|del|details|dfn|div|dl|dt|em|" +
  "figcaption|figure|font|footer|h[1-6]|head|header|hr|html|i|img|ins|kbd|li|main|mark|nav|ol|p|" +
  "pre|q|s|samp|section|small|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|" +
  "title|tr|tt|u|ul|var|wbr|a)";
const ATTRIBUTE = "\\s+[\\w:-]+=(?:\"[^\"<>]*\"|'[^'<>]*'|[^\\s\"'<>]+)";
const MARKUP = new RegExp(`</?${ELEMENT}(?:${ATTRIBUTE})*(?:\\s+open)?\\s*/?>`, "gi");

/** Marks above and below letters, which an editor, a keyboard or a person may leave out. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+/g;

/**
 * What a line says, by its letters and digits alone: an editor, an assistant or another system may
 * change its case, its signs, its spaces and its accents, how it is numbered, and how a letter is
 * encoded. The mark that allows a secret says nothing about whose it is.
 */
export function lettersOf(line: string): string {
  const marked = withoutAllowMark(line);
  const bare = marked.includes("<") ? marked.replace(MARKUP, "") : marked;
  const decoded = withoutEncodings(bare);
  return (
    lettersIn(decoded.replace(NUMBERED, "")) ||
    // Nothing but a number or an element is what it says.
    lettersIn(decoded) ||
    lettersIn(marked)
  );
}

function lettersIn(text: string): string {
  if (!/[^ -~\t\r]/.test(text)) return text.replace(/[^a-z\d]+/gi, "").toLowerCase();
  const plain = text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC");
  const letters = plain.replace(NO_LETTERS, "").toUpperCase().toLowerCase();
  return letters.replaceAll("ς", "σ");
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
  const isLong = letters + ideogramsIn(line) >= PASSAGE_LENGTH_MIN;
  return isLong && (words >= LONG_WORDS_MIN || UNSPACED.test(line));
}

/** Whether letters are so many that they are sought in the midst of a text. */
export function isPassage(letters: string): boolean {
  return letters.length + ideogramsIn(letters) >= PASSAGE_LENGTH_MIN;
}

function ideogramsIn(text: string): number {
  return text.match(IDEOGRAM)?.length ?? 0;
}

function sizeOf(line: string): { readonly letters: number; readonly words: number } {
  const words = line.match(WORD) ?? [];
  return { letters: words.reduce((sum, word) => sum + [...word].length, 0), words: words.length };
}
