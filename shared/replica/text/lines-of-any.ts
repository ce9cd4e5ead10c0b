import { plainLines } from "./text-form.ts";

/** A text without the lines that none of some other texts has, and the blank ones before them. */
export function linesOfAny(text: string, others: readonly string[]): string {
  const known = new Set(others.flatMap(plainLines));
  const kept: string[] = [];
  for (const line of text.split("\n")) {
    const isBlank = line.trim() === "";
    if (isBlank || known.has(plainLines(line).join(""))) kept.push(line);
    else while (kept.at(-1)?.trim() === "") kept.pop();
  }
  return kept.join("\n");
}
