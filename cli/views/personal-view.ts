import type { PersonalStatus } from "../../daemon/status/personal-status.ts";
import { count } from "../screen/output.ts";
import { tilde } from "../screen/tilde.ts";
import { toned } from "../screen/tones.ts";

const INDENT = " ".repeat(10);

/** The status lines about the user's own text; none where no assistant has it. */
export function personalLines({ lines, files, merges }: PersonalStatus): string[] {
  if (files.length === 0) return [];
  const having = files.filter(({ state }) => state === "current").length;
  const others = files.filter(({ state, note }) => state !== "waiting" && note !== null);
  const isWell = others.length === 0 && merges.length === 0;
  const text = lines ? count(lines, "line", "lines") : "no text yet";
  const where = `in ${having} of ${count(files.length, "file", "files")}`;
  return [
    `${toned(isWell ? "good" : "pending", "personal")}  ${text}, ${where}`,
    ...others.map(({ path, note }) => `${INDENT}${tilde(path)} ${note}`),
    ...mergeLines(merges).map((line) => INDENT + line),
  ];
}

/** What somebody should read who has edits of two machines in the text. */
export function mergeLines(merges: PersonalStatus["merges"]): string[] {
  return merges.flatMap(({ mine, theirs }) => {
    if (mine === null || theirs === null) return [UNITED];
    return [BOTH, ...[mine, theirs].map((each) => `  ${quoted(each)}`)];
  });
}

const UNITED = "it has all lines of two texts that had nothing in common: delete what is too much";
const BOTH = "both were written at once; delete one of them in any file:";

/** The first line of a version; the rest can be read in any of the files. */
function quoted(text: string): string {
  const [first = "", ...more] = text.trimEnd().split("\n");
  return more.length === 0 ? first : `${first} …`;
}
