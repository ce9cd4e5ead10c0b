import * as Y from "yjs";
import { type IdRanges, type MergedLine, type MergedText, writerOf } from "./merged-lines.ts";

/** Visible characters [from, to). */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Lines that both sides inserted at the very same position: the first copy, and the other. */
export type RepeatedMove = readonly [first: readonly MergedLine[], again: readonly MergedLine[]];

/**
 * Machines that clean up while apart make the same moves, and what they move need not be of a kind
 * that counts as a double: a blank line, a fence without its other one.
 */
export function findRepeatedMoves(
  ytext: Y.Text,
  { text, lines }: MergedText,
  sides: readonly [mine: IdRanges, theirs: IdRanges],
): RepeatedMove[] {
  const isWhole = ({ from, to }: Stretch) =>
    (from === 0 || text[from - 1] === "\n") && text[to - 1] === "\n";
  const copies = repeatedInsertions(ytext, sides).filter((both) => both.every(isWhole));
  return copies.map(([first, again]) => [linesIn(lines, first), linesIn(lines, again)]);
}

/** The same lines with each move made once: it is nobody's own any more. */
export function madeOnce(
  lines: readonly MergedLine[],
  moves: readonly RepeatedMove[],
): MergedLine[] {
  const kept = new Set(moves.flatMap(([first]) => first));
  const gone = new Set(moves.flatMap(([, again]) => again));
  const left = lines.filter((line) => !gone.has(line));
  return left.map((line) => (kept.has(line) ? { ...line, side: "base" } : line));
}

function linesIn(lines: readonly MergedLine[], { from, to }: Stretch): MergedLine[] {
  return lines.filter((line) => line.from >= from && line.to <= to);
}

function repeatedInsertions(ytext: Y.Text, sides: readonly [IdRanges, IdRanges]) {
  const repeated: (readonly [first: Stretch, again: Stretch])[] = [];
  const known = new Map<string, Stretch & { readonly side: string }>();
  let from = 0;
  for (let item = ytext._start; item !== null; item = item.right) {
    if (item.deleted) continue;
    const to = from + item.length;
    const { side } = writerOf(item.id.client, item.id.clock, ...sides);
    if (side !== "base") {
      const insertion = insertionOf(item);
      const first = known.get(insertion);
      if (!first) known.set(insertion, { from, to, side });
      else if (first.side !== side) repeated.push([first, { from, to }]);
    }
    from = to;
  }
  return repeated;
}

/** What was inserted, and between which two characters. */
function insertionOf({ origin, rightOrigin, content }: Y.Item): string {
  return JSON.stringify([origin, rightOrigin, content instanceof Y.ContentString && content.str]);
}
