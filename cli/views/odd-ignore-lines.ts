import type { OddIgnoreLine } from "../../daemon/ignored/odd-lines.ts";
import { tilde } from "../screen/tilde.ts";
import { toned } from "../screen/tones.ts";

/** More lines of one file than this are only counted. */
const SHOWN_MAX = 3;

/** The status lines about lines of ignored names; none where each says what it means. */
export function oddIgnoreLines(lines: readonly OddIgnoreLine[], max = SHOWN_MAX): string[] {
  return lines.length === 0 ? [] : oddLinesShown(lines, max).map(besideWord);
}

/** The same as sentences. */
export function oddLinesShown(lines: readonly OddIgnoreLine[], max = SHOWN_MAX): string[] {
  return [...Map.groupBy(lines, ({ file }) => file)].flatMap(([file, all]) => {
    const shown = all.slice(0, max).map(({ note }) => `${tilde(file)}: ${note}`);
    const left = all.length - shown.length;
    return left > 0 ? [...shown, `${tilde(file)}: ${left} more such lines`] : shown;
  });
}

function besideWord(sentence: string, at: number): string {
  const word = at === 0 ? toned("pending", "ignored") : "       ";
  return `${word}   ${sentence}`;
}
