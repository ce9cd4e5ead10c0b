import type * as Y from "yjs";
import { firstWhere } from "../text/first-where.ts";
import type { IdRanges } from "../text/id-ranges.ts";
import type { RemovedText } from "../text/removed-text.ts";
import { textRuns } from "../text/text.ts";
import type { MetSides } from "./kept-edits.ts";
import { type Side, writerOf } from "./merged-lines.ts";
import type { WritingSide } from "./moved-lines.ts";

/** A line of one of three texts: that of two sides, and what both began with. */
export interface SideLine {
  /** With its line break, if it has one. */
  readonly text: string;
  /** Who wrote it; `mixed`: more than one, or not all of it stands. */
  readonly side: Side | "mixed";
  /** Which side has deleted it; one of the base may be gone by both. */
  readonly gone: Readonly<Record<WritingSide, boolean>>;
  /** Its characters in the visible text, [from, to): none if it is gone. */
  readonly from: number;
  readonly to: number;
}

/** What two sides did to a text. */
export interface TextOfSides extends Pick<MetSides, "mine" | "theirs" | "deleted"> {
  /** The text that they deleted, as far as it is known. */
  readonly removed: readonly RemovedText[];
}

/**
 * The lines of all three texts in the order of the document, with those that either side has
 * deleted. Empty if the deleted text is not known.
 */
export function readSideLines(ytext: Y.Text, sides: TextOfSides): SideLine[] {
  const pieces = readPieces(ytext, sides);
  if (!pieces) return [];
  const lines: SideLine[] = [];
  let open: Piece[] = [];
  for (const piece of pieces) {
    let from = 0;
    for (let to = piece.text.indexOf("\n") + 1; to > 0; to = piece.text.indexOf("\n", to) + 1) {
      lines.push(lineOf([...open, part(piece, from, to)]));
      [open, from] = [[], to];
    }
    if (from < piece.text.length) open.push(part(piece, from, piece.text.length));
  }
  if (open.length > 0) lines.push(lineOf(open));
  return lines;
}

/**
 * What a side had, or what both began with, as far as lines were written by one; undefined where
 * that is not known.
 */
export function textOfSide(lines: readonly SideLine[], by: Side): string | undefined {
  if (lines.length === 0) return undefined;
  const own = lines.filter((line) => isOfSide(line, by));
  return own.map(({ text }) => text).join("");
}

/** Whether a line is one of a side's text, or of that with which both began. */
export function isOfSide({ side, gone }: SideLine, by: Side): boolean {
  if (side !== "base") return side === by || side === "mixed";
  return by === "base" || !gone[by];
}

/** Characters of one kind. */
interface Piece extends SideLine {
  readonly side: Side;
}

function part(piece: Piece, from: number, to: number): Piece {
  const isVisible = piece.to > piece.from;
  return {
    ...piece,
    text: piece.text.slice(from, to),
    from: isVisible ? piece.from + from : piece.from,
    to: isVisible ? piece.from + to : piece.to,
  };
}

function lineOf(pieces: readonly Piece[]): SideLine {
  const [first, last] = [pieces[0] as Piece, pieces.at(-1) as Piece];
  const isOne = pieces.every(({ side, gone: { mine, theirs } }) => {
    return side === first.side && mine === first.gone.mine && theirs === first.gone.theirs;
  });
  return {
    text: pieces.map(({ text }) => text).join(""),
    side: isOne ? first.side : "mixed",
    gone: first.gone,
    from: first.from,
    to: last.to,
  };
}

function readPieces(ytext: Y.Text, { mine, theirs, deleted, removed }: TextOfSides) {
  const said = new RemovedPieces(removed);
  const pieces: Piece[] = [];
  let index = 0;
  for (const { client, clock: start, length, text } of textRuns(ytext)) {
    for (let clock = start; clock < start + length; ) {
      const id = { client, clock };
      const [writer, both] = [writerOf(id, mine, theirs), within(id, deleted.both)];
      const [byMe, byThem] = [within(id, deleted.mine), within(id, deleted.theirs)];
      const ends = [writer, both, byMe, byThem].map(({ until }) => until);
      const end = Math.min(start + length, ...ends);
      const gone = { mine: byMe.isIn || both.isIn, theirs: byThem.isIn || both.isIn };
      if (text !== undefined) {
        const own = text.slice(clock - start, end - start);
        const visible = { from: index, to: index + own.length };
        pieces.push({ text: own, side: writer.side, gone: STANDS, ...visible });
        index += own.length;
      } else if (writer.side === "base" && (gone.mine || gone.theirs)) {
        const own = said.read(client, clock, end);
        if (own === undefined) return undefined;
        pieces.push({ text: own, side: "base", gone, from: index, to: index });
      }
      clock = end;
    }
  }
  return pieces;
}

const STANDS = { mine: false, theirs: false };

function within(
  { client, clock }: { readonly client: number; readonly clock: number },
  ranges: IdRanges,
) {
  const ofClient = ranges.get(client) ?? [];
  const [from, to] = ofClient[firstWhere(ofClient, ([, end]) => end > clock)] ?? [];
  if (from === undefined || to === undefined)
    return { isIn: false, until: Number.POSITIVE_INFINITY };
  return clock < from ? { isIn: false, until: from } : { isIn: true, until: to };
}

/** What deleted characters said. */
class RemovedPieces {
  readonly #pieces: ReadonlyMap<number, readonly RemovedText[]>;

  constructor(removed: readonly RemovedText[]) {
    const inOrder = [...removed].sort((one, other) => one.clock - other.clock);
    this.#pieces = Map.groupBy(inOrder, ({ client }) => client);
  }

  /** Those of a client with the clocks [from, to); undefined where one of them is not known. */
  read(client: number, from: number, to: number): string | undefined {
    let text = "";
    for (const piece of this.#pieces.get(client) ?? []) {
      const at = from + text.length;
      if (at >= to || piece.clock > at) break;
      text += piece.text.slice(at - piece.clock, to - piece.clock);
    }
    return text.length === to - from ? text : undefined;
  }
}
