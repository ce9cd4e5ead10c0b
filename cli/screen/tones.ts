import { styled } from "./terminal.ts";

/** `good`: all is well; `bad`: somebody has to act; `pending`: something waits. */
export type Tone = "good" | "bad" | "pending";

/** Code points that occur in no text: Unicode reserves them for a program's internal use. */
const MARKS: Readonly<Record<Tone, string>> = {
  good: "\ufdd0",
  bad: "\ufdd1",
  pending: "\ufdd2",
};
const END = "\ufdd3";
const TONES: ReadonlyMap<string, Tone> = new Map([
  [MARKS.good, "good"],
  [MARKS.bad, "bad"],
  [MARKS.pending, "pending"],
]);
const STYLES = { good: "green", bad: "red", pending: "yellow" } as const;

/** Marks words with their tone, for `coloured`. The marks have no width. */
export function toned(tone: Tone, words: string): string {
  return `${MARKS[tone]}${words}${END}`;
}

/** These lines with their tones in colour, on a terminal that has colours. */
export function coloured(lines: readonly string[]): string[] {
  let tone: Tone | undefined;
  return lines.map((line) => {
    let shown = "";
    for (const part of line.split(/([\ufdd0-\ufdd3])/)) {
      if (part === END) tone = undefined;
      else if (TONES.has(part)) tone = TONES.get(part);
      else if (part !== "") shown += tone ? styled(STYLES[tone], part) : part;
    }
    return shown;
  });
}
