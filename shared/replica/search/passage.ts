import { withSummaryFirst } from "../text/front-matter.ts";
import { headingsIn } from "../text/headings.ts";
import { hasWord } from "../text/line-diff.ts";
import { type SearchTerm, spacedWords, termsOf } from "./words.ts";

/** At most this much of a long line is left before the first word that was looked for. */
const BEFORE = 40;
/** And at most this share of what is shown. */
const BEFORE_SHARE = 1 / 3;

/**
 * The line of a text that says most about a query: the one with the most of its words, by the rules
 * of the index. Of a long line, the part around the first of them. Without any of them, what says
 * most about the text; see `withSummaryFirst`. "…" stands for what was left out; `lengthMax` does
 * not count it.
 *
 * ```
 * passageOf("# Build\n\nUse the Café machine.", "cafe", 40); // "… Use the Café machine."
 * ```
 */
export function passageOf(text: string, query: string, lengthMax = Infinity): string {
  const wanted = termsOf(query);
  const lines = wordedLines(text);
  const summary = wordedLines(withSummaryFirst(text))[0] ?? "";
  let best = { line: summary, wordsBefore: 0, found: 0, index: 0 };
  for (const [index, line] of lines.entries()) {
    const { found, wordsBefore } = matchesIn(line, wanted);
    if (found > best.found) best = { line, wordsBefore, found, index };
  }
  const at = best.found === 0 ? 0 : endOfWords(best.line, best.wordsBefore);
  const indent = best.line.length - best.line.trimStart().length;
  const line = best.line.trim();
  const before = Math.min(BEFORE, Math.floor(lengthMax * BEFORE_SHARE));
  const around = Math.max(0, at - indent - before);
  const start = line.length <= lengthMax ? 0 : wordStart(line, around, at - indent);
  const end = Math.min(line.length, start + lengthMax);
  const above = best.index > 0 || start > 0 ? "… " : "";
  const below = end < line.length || best.index < lines.length - 1 ? " …" : "";
  return `${above}${line.slice(start, end).trim().toWellFormed()}${below}`;
}

/** Who has read so much below a heading or a name knows what a text is about. */
const SAYING_LENGTH = 40;

/**
 * The beginning of a text as far as it says something: a heading or a name says little, so what is
 * below it comes as well. Each line is one of the text's.
 *
 * ```
 * beginningOf("# Notes\n\nTag first, then publish: CI reads the tag.\nWait.\n");
 * // "# Notes\nTag first, then publish: CI reads the tag. …"
 * ```
 */
export function beginningOf(text: string, lengthMax = Infinity): string {
  const lines = withSummaryFirst(text).split(LINE_END);
  const headings = headingsIn(lines);
  const worded = [...lines.entries()].filter(([, line]) => hasWord(line));
  const shown: string[] = [];
  let said = 0;
  for (const [at, line] of worded) {
    if (said >= SAYING_LENGTH) break;
    shown.push(line.trim());
    if (!headings.has(at)) said += line.trim().length;
  }
  if (shown.length === 0) return passageOf(text, "", lengthMax);
  const whole = shown.join("\n");
  const isCut = whole.length > lengthMax || shown.length < worded.length;
  return `${whole.slice(0, lengthMax).trim().toWellFormed()}${isCut ? " …" : ""}`;
}

const LINE_END = /\r\n|[\r\n]/;

function wordedLines(text: string): string[] {
  return text.split(LINE_END).filter((line) => line.trim() !== "");
}

/** How many of the wanted words a line has, and how many others it has before the first of them. */
function matchesIn(
  line: string,
  wanted: readonly SearchTerm[],
): { readonly found: number; readonly wordsBefore: number } {
  const words = spacedWords(line);
  let [found, first] = [0, words.length];
  for (const { phrase, isPrefixToo } of wanted) {
    const place = words.indexOf(isPrefixToo ? phrase.trimEnd() : phrase);
    if (place === -1) continue;
    found += countWords(phrase);
    first = Math.min(first, place);
  }
  return { found, wordsBefore: countWords(words.slice(0, first)) };
}

/** How many words are in a text as `spacedWords` makes it, or in its beginning. */
function countWords(words: string): number {
  return words.split(" ").filter((word) => word !== "").length;
}

/** The end of the largest part of a line with only so many words: where the next word begins. */
function endOfWords(line: string, count: number): number {
  let [low, high] = [0, line.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (countWords(spacedWords(line.slice(0, middle))) <= count) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The first word's beginning after `from`, unless it is behind `before`. */
function wordStart(line: string, from: number, before: number): number {
  const space = from === 0 ? -1 : line.indexOf(" ", from);
  return space === -1 || space >= before ? from : space + 1;
}
