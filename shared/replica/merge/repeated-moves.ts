import * as Y from "yjs";
import type { IdRanges } from "../text/id-ranges.ts";
import { type MergedLine, type MergedText, type Side, writerOf } from "./merged-lines.ts";

/** Visible characters [from, to). */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Lines that both sides inserted at the very same position. */
export interface RepeatedMove {
  readonly first: readonly MergedLine[];
  /** The copy behind it. */
  readonly again: readonly MergedLine[];
}

/**
 * Finds moves that both sides made. Machines that clean up while apart make the same moves, also of
 * lines that do not count as doubles, such as a blank line or one of two fences.
 */
export function findRepeatedMoves(
  ytext: Y.Text,
  { text, lines }: MergedText,
  sides: readonly [mine: IdRanges, theirs: IdRanges],
): RepeatedMove[] {
  const isWhole = ({ from, to }: Stretch) =>
    (from === 0 || text[from - 1] === "\n") && text[to - 1] === "\n";
  const copies = repeatedInsertions(ytext, sides).filter((both) => both.every(isWhole));
  return copies.map(([first, again]) => {
    return { first: linesIn(lines, first), again: linesIn(lines, again) };
  });
}

/** The same lines with each move made once: it is nobody's own any more. */
export function madeOnce(
  lines: readonly MergedLine[],
  moves: readonly RepeatedMove[],
): MergedLine[] {
  const kept = new Set(moves.flatMap(({ first }) => first));
  const gone = new Set(moves.flatMap(({ again }) => again));
  const left = lines.filter((line) => !gone.has(line));
  return left.map((line) => (kept.has(line) ? { ...line, side: "base" } : line));
}

function linesIn(lines: readonly MergedLine[], { from, to }: Stretch): MergedLine[] {
  return lines.filter((line) => line.from >= from && line.to <= to);
}

function repeatedInsertions(ytext: Y.Text, sides: readonly [IdRanges, IdRanges]) {
  const repeated: (readonly [first: Stretch, again: Stretch])[] = [];
  const known = new Map<string, OwnItem>();
  for (const own of ownItems(ytext, sides)) {
    if (own.item.deleted) continue;
    const insertion = insertionOf(own.item);
    const first = known.get(insertion);
    if (!first) known.set(insertion, own);
    else if (first.side !== own.side) repeated.push([first, own]);
  }
  return repeated;
}

/**
 * The lines, with each of which a clean-up has already removed the other side's copy counted as the
 * base's, as `madeOnce` does. Else a second clean-up would take it for a side's own line that has
 * no double yet.
 */
export function asMadeOnce(
  ytext: Y.Text,
  { lines }: MergedText,
  sides: readonly [mine: IdRanges, theirs: IdRanges],
): readonly MergedLine[] {
  const items = ownItems(ytext, sides);
  const idOf = ({ client, clock }: Y.ID) => `${client} ${clock}`;
  const beside = items.flatMap(({ item: { origin, rightOrigin } }) => [origin, rightOrigin]);
  const replaced = new Set(beside.map((id) => id && idOf(id)));
  const clients = Map.groupBy(new Set(items.map(({ item }) => item.id.client)), (client) => {
    return items.find(({ item }) => item.id.client === client)?.side;
  });
  const made = new Set<MergedLine>();
  for (const equals of Map.groupBy(items, ({ item }) => placeOf(item)).values()) {
    const [first, ...others] = equals.filter(({ item }) => !item.deleted);
    if (first === undefined || others.some(({ side }) => side !== first.side)) continue;
    const behind = equals.slice(equals.indexOf(first) + 1);
    const wasRemoved = behind.some(({ item, side }) => {
      if (!item.deleted || side === first.side) return false;
      // If several machines are on the copy's side, one of these may have removed the copy.
      if (clients.get(side)?.length !== 1) return false;
      // If the copy's own side wrote something in its place, that side removed it, and no clean-up
      // did.
      return ![item.id, item.lastId].some((id) => replaced.has(idOf(id)));
    });
    if (wasRemoved) for (const line of linesIn(lines, first)) made.add(line);
  }
  return lines.map((line) => (made.has(line) ? { ...line, side: "base" } : line));
}

/** An item that one side inserted: the visible part of it, and the side. */
interface OwnItem extends Stretch {
  readonly item: Y.Item;
  readonly side: Side;
}

function ownItems(ytext: Y.Text, sides: readonly [IdRanges, IdRanges]): OwnItem[] {
  const items: OwnItem[] = [];
  let from = 0;
  for (let item = ytext._start; item !== null; item = item.right) {
    const to = from + (item.deleted ? 0 : item.length);
    const { side } = writerOf(item.id, ...sides);
    if (side !== "base") items.push({ item, side, from, to });
    from = to;
  }
  return items;
}

/** A text for the place of an insertion: between which two characters, and how long it is. */
function placeOf({ origin, rightOrigin, length }: Y.Item): string {
  return JSON.stringify([origin, rightOrigin, length]);
}

/** What was inserted, and between which two characters. */
function insertionOf({ origin, rightOrigin, content }: Y.Item): string {
  return JSON.stringify([origin, rightOrigin, content instanceof Y.ContentString && content.str]);
}
