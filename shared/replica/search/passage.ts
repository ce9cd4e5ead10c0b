import { withSummaryFirst } from "../text/front-matter.ts";
import { wordsOf } from "./full-text.ts";
import { withPlainLetters } from "./letters.ts";

/** A word of a text: what the index takes for one. */
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

/** How much of a long line is left before the first word that was looked for. */
const BEFORE = 40;

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
  const wanted = [...new Set(wordsOf(query).flatMap((word) => folded(word).match(WORD) ?? []))];
  const lines = wordedLines(text);
  let best = { line: wordedLines(withSummaryFirst(text))[0] ?? "", at: 0, found: 0, index: 0 };
  for (const [index, line] of lines.entries()) {
    const { found, at } = matchesIn(line, wanted);
    if (found > best.found) best = { line, at, found, index };
  }
  const indent = best.line.length - best.line.trimStart().length;
  const line = best.line.trim();
  const around = Math.max(0, best.at - indent - BEFORE);
  const start = line.length <= lengthMax ? 0 : wordStart(line, around);
  const end = Math.min(line.length, start + lengthMax);
  const before = best.index > 0 || start > 0 ? "… " : "";
  const after = end < line.length || best.index < lines.length - 1 ? " …" : "";
  return `${before}${line.slice(start, end).trim().toWellFormed()}${after}`;
}

function wordedLines(text: string): string[] {
  return text.split(/\r\n|[\r\n]/).filter((line) => line.trim() !== "");
}

/** How many of the words a line has, and where the first of them is. */
function matchesIn(line: string, wanted: readonly string[]): { found: number; at: number } {
  const found = new Set<string>();
  let at = 0;
  for (const match of line.matchAll(WORD)) {
    const word = folded(match[0]);
    const hits = wanted.filter((each) => word.startsWith(each));
    if (hits.length > 0 && found.size === 0) at = match.index;
    for (const hit of hits) found.add(hit);
  }
  return { found: found.size, at };
}

function wordStart(line: string, from: number): number {
  const space = from === 0 ? -1 : line.indexOf(" ", from);
  return space === -1 || space > from + BEFORE / 2 ? from : space + 1;
}

/** Without case and accents, as the index has it. */
function folded(text: string): string {
  return withPlainLetters(text).normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
