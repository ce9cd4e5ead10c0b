import { hasWord } from "./line-diff.ts";
import { plainLines } from "./text-form.ts";

/** Whether these whole lines occur together in a text, in order. */
export function holdsLines(content: string, lines: string): boolean {
  const there = plainLines(content);
  let next = 0;
  for (const line of plainLines(lines)) {
    const at = there.indexOf(line, next);
    if (at === -1) return false;
    next = at + 1;
  }
  return true;
}

/** Whether any of these lines that says something occurs in a text. */
export function holdsAnyLine(content: string, lines: string): boolean {
  const there = new Set(plainLines(content));
  return sayingLines(lines).some((line) => there.has(line));
}

/** Whether each of these lines, except blank ones, occurs anywhere in a text. */
export function holdsEachLine(content: string, lines: string): boolean {
  const there = new Set(plainLines(content));
  return plainLines(lines).every((line) => line.trim() === "" || there.has(line));
}

/** How often each of these lines occurs anywhere in a text. */
export function countLines(content: string, lines: string): number[] {
  const counts = new Map<string, number>(plainLines(lines).map((line) => [line, 0]));
  for (const line of plainLines(content)) {
    const count = counts.get(line);
    if (count !== undefined) counts.set(line, count + 1);
  }
  return plainLines(lines).map((line) => counts.get(line) ?? 0);
}

/** Whether one of these lines that says something occurs in a text more than once. */
export function standsTwice(content: string, lines: string): boolean {
  const there = plainLines(content);
  const counted = (line: string) => there.filter((each) => each === line).length;
  return sayingLines(lines).some((line) => counted(line) > 1);
}

/**
 * The lines that say something, which are those with a word: a rule, a bracket or a fence stands
 * all over a text, so it proves nothing. If no line has a word, all but blank ones.
 */
function sayingLines(lines: string): string[] {
  const all = plainLines(lines);
  const saying = all.filter(hasWord);
  return saying.length > 0 ? saying : all.filter((line) => line.trim() !== "");
}
