import { styled } from "./terminal.ts";

/** What is well, what somebody has to see to, and what waits. */
export type Tone = "good" | "bad" | "pending";

/** Code points that no text has, for Unicode keeps them for a program's own use. */
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

/** Words of a line with what they mean, for whoever colours it. Takes no column. */
export function toned(tone: Tone, words: string): string {
  return `${MARKS[tone]}${words}${END}`;
}

/** The lines that one was broken into, with its tones in colour on a terminal that has any. */
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
