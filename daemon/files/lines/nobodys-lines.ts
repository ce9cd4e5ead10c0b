import { diffLines } from "../../../shared/replica/text/line-diff.ts";
import type { CapturedText } from "../../../shared/replica/text/text.ts";
import { indicesFrom } from "./line-runs.ts";
import { type CapturedLine, joinLines, linesOf, nobodysLine } from "./text-lines.ts";

/**
 * The same text, in which the lines that the document lacks are those that a diff finds to be more
 * than the document has. Of equal lines, as blank ones are, it is else unclear which are the
 * document's: a save that takes out the others would take one of the document's instead.
 */
export function settleNobodys(text: CapturedText): CapturedText {
  const lines = linesOf(text);
  const own = lines.filter(({ spans }) => spans.some(({ client }) => client !== null));
  const hunks = diffLines(own.map(textOf), lines.map(textOf));
  if (hunks.some(({ removed }) => removed > 0)) return text;
  const nobodys = new Set(hunks.flatMap(({ from, added }) => indicesFrom(from, added)));
  const rest = own[Symbol.iterator]();
  const settled = lines.map((line, at) => {
    return nobodys.has(at) ? nobodysLine(line.text) : (rest.next().value ?? line);
  });
  return joinLines(settled);
}

function textOf({ text }: CapturedLine): string {
  return text;
}
