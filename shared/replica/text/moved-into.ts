import { hasWord } from "./line-diff.ts";
import type { TextEdit } from "./text-edits.ts";
import { type SpanList, SpanReader, type TextSpan } from "./text-spans.ts";

/** A text, with the document's characters of which it consists. */
interface LiveText {
  readonly text: string;
  readonly spans: readonly TextSpan[];
}

/** A whole line of a text, [from, to), with its line break. */
interface Line {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds inserted lines among those that the same edits remove elsewhere: each removed line once,
 * run by run. A line without a word is found only directly after the one before it.
 */
export class MovedInto {
  readonly #live: LiveText;
  /** The removed lines, with their line breaks, in order. */
  readonly #free = new Map<string, Line[]>();
  readonly #freeAt = new Map<number, Line>();

  constructor(live: LiveText, edits: readonly TextEdit[]) {
    this.#live = live;
    for (const { from, to, ending } of edits) {
      if (ending) continue;
      for (const line of linesIn(live.text, from, to)) {
        const said = live.text.slice(line.from, line.to);
        this.#free.set(said, [...(this.#free.get(said) ?? []), line]);
        this.#freeAt.set(line.from, line);
      }
    }
  }

  /** Appends the spans of an edit's insertion: of characters that are elsewhere, or of none. */
  copy({ insert, ending }: TextEdit, into: SpanList): void {
    if (ending) {
      into.push(null, 0, insert.length);
      return;
    }
    let behind: Line | undefined;
    for (const { from, to } of linesIn(insert, 0, insert.length)) {
      const said = insert.slice(from, to);
      behind = this.#take(said, behind);
      if (behind) new SpanReader(this.#live.spans).copy(behind.from, behind.to, into);
      else into.push(null, 0, to - from);
    }
  }

  #take(said: string, behind: Line | undefined): Line | undefined {
    const next = behind && this.#freeAt.get(behind.to);
    const isNext = next && this.#live.text.slice(next.from, next.to) === said;
    const found = isNext ? next : hasWord(said) ? this.#free.get(said)?.[0] : undefined;
    if (!found) return undefined;
    this.#freeAt.delete(found.from);
    const rest = this.#free.get(said)?.filter((line) => line !== found) ?? [];
    this.#free.set(said, rest);
    return found;
  }
}

function linesIn(text: string, from: number, to: number): Line[] {
  const lines: Line[] = [];
  for (let at = from; at < to; ) {
    const next = text.indexOf("\n", at);
    const end = next === -1 || next + 1 > to ? to : next + 1;
    lines.push({ from: at, to: end });
    at = end;
  }
  return lines;
}
