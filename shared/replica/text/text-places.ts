import { ITEMS_PER_STEP, type Steps } from "../../steps.ts";
import { firstWhere } from "./first-where.ts";
import type { TextEdit } from "./text-edits.ts";
import type { TextSpan } from "./text-spans.ts";

/** A run of a document's text, in document order. A tombstone has no characters. */
export interface TextRun extends TextSpan {
  readonly client: number;
  /** Undefined for deleted characters. */
  readonly text: string | undefined;
}

/** The characters [offset, offset + length) of a base, and where they are in the current text. */
interface Piece {
  readonly offset: number;
  readonly length: number;
  /** Index of the first character; for a tombstone, of the first visible character after it. */
  readonly index: number;
  readonly visible: boolean;
}

/** Where the characters of a base are in the current text, or were before they were deleted. */
export class TextPlaces {
  readonly #pieces: readonly Piece[];

  private constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  static *find(base: readonly TextSpan[], live: readonly TextRun[]): Steps<TextPlaces> {
    return new TextPlaces(yield* findPieces(base, yield* indexByClient(live)));
  }

  /** Ranges of the current text, ascending, that contain the base's characters [from, to). */
  visible(from: number, to: number): { readonly index: number; readonly length: number }[] {
    const found: { index: number; length: number }[] = [];
    const first = firstWhere(this.#pieces, (piece) => piece.offset + piece.length > from);
    for (let i = first; i < this.#pieces.length; i++) {
      const piece = this.#pieces[i] as Piece;
      if (piece.offset >= to) break;
      if (!piece.visible) continue;
      const low = Math.max(from, piece.offset);
      const high = Math.min(to, piece.offset + piece.length);
      found.push({ index: piece.index + low - piece.offset, length: high - low });
    }
    return found;
  }

  /**
   * The index at which the edit inserts: after the base's character on its left, or after that
   * one's tombstone. If it is not in the document, beside the nearest one that is.
   */
  insertionOf(edit: TextEdit): number {
    const from = edit.behind ? edit.to : edit.from;
    const left = this.#pieces[firstWhere(this.#pieces, (piece) => piece.offset >= from) - 1];
    const right =
      this.#pieces[firstWhere(this.#pieces, (piece) => piece.offset + piece.length > edit.to)];
    const toLeft = left ? Math.max(0, from - left.offset - left.length) : from;
    const toRight = right ? Math.max(0, right.offset - edit.to) : Number.POSITIVE_INFINITY;
    if (right && toRight < toLeft) {
      return right.index + (right.visible ? Math.max(0, edit.to - right.offset) : 0);
    }
    if (!left) return 0;
    return left.index + (left.visible ? Math.min(left.length, from - left.offset) : 0);
  }
}

/** A range of the current text, found by its client's clocks. */
interface Entry {
  readonly clock: number;
  readonly length: number;
  readonly index: number;
  readonly visible: boolean;
}

function* indexByClient(live: readonly TextRun[]): Steps<Map<number, Entry[]>> {
  const clients = new Map<number, Entry[]>();
  let index = 0;
  let count = 0;
  for (const { client, clock, length, text } of live) {
    const visible = text !== undefined;
    const entries = clients.get(client) ?? [];
    entries.push({ clock, length, index, visible });
    clients.set(client, entries);
    if (visible) index += length;
    if (++count % ITEMS_PER_STEP === 0) yield;
  }
  for (const entries of clients.values()) entries.sort((one, other) => one.clock - other.clock);
  return clients;
}

function* findPieces(
  base: readonly TextSpan[],
  live: ReadonlyMap<number, Entry[]>,
): Steps<Piece[]> {
  const pieces: Piece[] = [];
  let offset = 0;
  for (const { client, clock, length } of base) {
    const entries = client === null ? [] : (live.get(client) ?? []);
    let i = firstWhere(entries, (entry) => entry.clock + entry.length > clock);
    for (; i < entries.length; i++) {
      const entry = entries[i] as Entry;
      const low = Math.max(clock, entry.clock);
      const high = Math.min(clock + length, entry.clock + entry.length);
      if (low >= high) break;
      const index = entry.index + (entry.visible ? low - entry.clock : 0);
      pieces.push({
        offset: offset + low - clock,
        length: high - low,
        index,
        visible: entry.visible,
      });
      if (pieces.length % ITEMS_PER_STEP === 0) yield;
    }
    offset += length;
  }
  return pieces;
}
