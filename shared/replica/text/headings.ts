import { findCodeBlocks } from "./code-blocks.ts";
import { hasWord } from "./line-diff.ts";

/**
 * The headings among lines, by the index of the line that says what they are called: how deep each
 * is, 1 for the outermost. None is in a code block, or among settings at the beginning ("front
 * matter"). The lines may have their breaks.
 *
 * A heading begins with up to six `#` ("ATX"), or has `===` or `---` right below it ("setext").
 * Unlike in CommonMark, its name is only the one line above that, because a merge may put a line
 * right before it; and a single `-` is not enough.
 */
export function headingsIn(broken: readonly string[]): ReadonlyMap<number, number> {
  const lines = broken.map((line) => line.replace(/\r?\n$/, ""));
  const found = new Map<number, number>();
  const isCode = codeIn(lines);
  for (let at = endOfMatter(lines); at < lines.length; at++) {
    if (isCode.has(at)) continue;
    const level = levelOf(lines[at] ?? "", lines[at + 1]);
    if (level !== undefined) found.set(at, level);
  }
  return found;
}

/** Whether a line is the last one of a heading: its name, or what underlines that. */
export function endsHeading(lines: readonly string[], at: number): boolean {
  const headings = headingsIn(lines);
  const isUnderlined = headings.has(at - 1) && !ATX.test(lines[at - 1] ?? "");
  return isUnderlined || (headings.has(at) && ATX.test(lines[at] ?? ""));
}

const ATX = /^ {0,3}(#{1,6})(\s|$)/;
const UNDERLINE = /^ {0,3}(=|-)\1+\s*$/;

/** What begins a list, a quotation or a row of a table, or is indented like code. */
const NO_NAME = /^( {4}|\t| {0,3}([-*+>|]|\d+[.)]))/;

function levelOf(line: string, next: string | undefined): number | undefined {
  const level = ATX.exec(line)?.[1]?.length;
  if (level !== undefined) return level;
  const mark = next && UNDERLINE.exec(next)?.[1];
  if (!mark || NO_NAME.test(line) || !hasWord(line)) return undefined;
  return mark === "=" ? 1 : 2;
}

function codeIn(lines: readonly string[]): ReadonlySet<number> {
  const blocks = findCodeBlocks(lines);
  return new Set(
    blocks.flatMap(([from, to]) => Array.from({ length: to - from }, (_, nth) => from + nth)),
  );
}

/** Where the text begins: behind settings ("front matter") between two `---`. */
function endOfMatter(lines: readonly string[]): number {
  const isEdge = (line: string | undefined) => line?.trimEnd() === "---";
  if (!isEdge(lines[0]) || !/^[\w-]+:/.test(lines[1] ?? "")) return 0;
  return lines.findIndex((line, at) => at > 0 && isEdge(line)) + 1;
}
