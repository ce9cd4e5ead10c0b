import { assert } from "../../errors.ts";
/**
 * A run of characters that one client wrote, with consecutive clocks. A null client marks
 * characters that exist in this version only, not in the document. Lengths are in UTF-16 units.
 */
export interface TextSpan {
  readonly client: number | null;
  readonly clock: number;
  readonly length: number;
}

/** Collects spans in text order, and joins those that continue each other. */
export class SpanList {
  readonly #spans: { client: number | null; clock: number; length: number }[] = [];

  get spans(): readonly TextSpan[] {
    return this.#spans;
  }

  push(client: number | null, clock: number, length: number): void {
    if (length === 0) return;
    const last = this.#spans.at(-1);
    const continues =
      last?.client === client && (client === null || last.clock + last.length === clock);
    if (last && continues) last.length += length;
    else this.#spans.push({ client, clock: client === null ? 0 : clock, length });
  }
}

/** Copies parts of a span list in ascending order, in one walk over it. */
export class SpanReader {
  readonly #spans: readonly TextSpan[];
  #next = 0;
  #start = 0;

  constructor(spans: readonly TextSpan[]) {
    this.#spans = spans;
  }

  /** Appends the spans of the characters [from, to); `from` must not be less than the last `to`. */
  copy(from: number, to: number, into: SpanList): void {
    for (; this.#start < to; this.#next++) {
      const span = this.#spans[this.#next];
      if (span === undefined) return;
      const end = this.#start + span.length;
      const low = Math.max(from, this.#start);
      const high = Math.min(to, end);
      if (low < high) into.push(span.client, span.clock + low - this.#start, high - low);
      if (end > to) return;
      this.#start = end;
    }
  }
}

/** The client that wrote the character at an index of the text. */
export function clientAt(spans: readonly TextSpan[], index: number): number {
  return idAt(spans, index).client;
}

/** The id of that character. */
export function idAt(spans: readonly TextSpan[], index: number): CharacterId {
  let start = 0;
  for (const { client, clock, length } of spans) {
    if (index < start + length) {
      assert(client !== null, "every character of a document has a writer");
      return { client, clock: clock + index - start };
    }
    start += length;
  }
  throw new Error("the text has no such character");
}

/** Identifies a character: its client, and its clock. */
export interface CharacterId {
  readonly client: number;
  readonly clock: number;
}
