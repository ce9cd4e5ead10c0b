import type { IdRanges } from "./id-ranges.ts";
import type { CapturedText } from "./text.ts";
import { withoutMark } from "./text-form.ts";
import type { CharacterId } from "./text-spans.ts";

/** Characters that were removed from a text, in the order in which one client wrote them. */
export interface RemovedText {
  readonly client: number;
  /** The clock of the first character. */
  readonly clock: number;
  readonly text: string;
}

/** More characters than this are not stored with the row that removed them. */
const LENGTH_MAX = 64 * 1024;

/**
 * The form in which a row stores it: a list of [client, clock, text]. Null for nothing, or for too
 * much, which was the text as a whole.
 */
export function storedRemoved(removed: readonly RemovedText[]): string | null {
  const length = removed.reduce((total, { text }) => total + text.length, 0);
  if (length === 0 || length > LENGTH_MAX) return null;
  return JSON.stringify(removed.map(({ client, clock, text }) => [client, clock, text]));
}

/** Reads what `storedRemoved` returned; empty for anything else. */
export function parseRemoved(stored: string): RemovedText[] {
  const value: unknown = JSON.parse(stored);
  return (Array.isArray(value) ? value : []).flatMap((entry: unknown) => {
    const [client, clock, text] = Array.isArray(entry) ? entry : [];
    const isWhole = Number.isInteger(client) && Number.isInteger(clock);
    return isWhole && typeof text === "string" ? [{ client, clock, text }] : [];
  });
}

/** A version of a text, as if all of it had been removed. */
export function piecesOf({ text, spans }: CapturedText): RemovedText[] {
  const pieces: RemovedText[] = [];
  let at = 0;
  for (const { client, clock, length } of spans) {
    if (client !== null) pieces.push({ client, clock, text: text.slice(at, at + length) });
    at += length;
  }
  return pieces;
}

/** The texts, without breaks, of lines all of whose characters are in `ids`. */
export function wholeLines(removed: readonly RemovedText[], ids: IdRanges): Set<string> {
  return new Set(wholeLineIds(removed, ids).keys());
}

/** The same, each with the id of its first character. */
export function wholeLineIds(
  removed: readonly RemovedText[],
  ids: IdRanges,
): Map<string, CharacterId> {
  const lines = new Map<string, CharacterId>();
  for (const { client, clock, text } of joined(removed)) {
    const ranges = ids.get(client) ?? [];
    let from = 0;
    for (const line of text.split("\n")) {
      const [first, end] = [clock + from, clock + from + line.length];
      from += line.length + 1;
      if (line === "") continue;
      if (ranges.some(([start, stop]) => start <= first && end <= stop)) {
        lines.set(withoutMark(line), { client, clock: first });
      }
    }
  }
  return lines;
}

/** The ids of the lines that say any of these, with their line breaks, wherever they stood. */
export function idsOfLines(pieces: readonly RemovedText[], wanted: ReadonlySet<string>): IdRanges {
  const ids = new Map<number, (readonly [number, number])[]>();
  for (const { client, clock, text } of joined(pieces)) {
    const own = ids.get(client) ?? [];
    let from = clock;
    for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
      const isWanted = wanted.has(withoutMark(line.replace(/\n$/, "")));
      if (isWanted) own.push([from, from + line.length]);
      from += line.length;
    }
    if (own.length > 0) ids.set(client, own);
  }
  return ids;
}

/** A line is written in one piece, but is removed in several if something was inserted into it. */
function joined(removed: readonly RemovedText[]): RemovedText[] {
  const inOrder = [...removed].sort(
    (one, other) => one.client - other.client || one.clock - other.clock,
  );
  const runs: RemovedText[] = [];
  for (const piece of inOrder) {
    const last = runs.at(-1);
    const isNext = last?.client === piece.client && last.clock + last.text.length === piece.clock;
    if (last && isNext) runs[runs.length - 1] = { ...last, text: last.text + piece.text };
    else runs.push(piece);
  }
  return runs;
}
