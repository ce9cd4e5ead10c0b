import type { IdRanges } from "./id-ranges.ts";
import type { CapturedText } from "./text.ts";
import { withoutMark } from "./text-form.ts";
import type { CharacterId } from "./text-spans.ts";

/** Characters that were taken out of a text, in the order in which one client had written them. */
export interface RemovedText {
  readonly client: number;
  /** The clock of the first. */
  readonly clock: number;
  readonly text: string;
}

/** More characters than that are not kept with the row that took them out. */
const LENGTH_MAX = 64 * 1024;

/**
 * As a row of the log keeps it: a list of [client, clock, text]. Null where there is none, or so
 * much that it was a text as a whole.
 */
export function storedRemoved(removed: readonly RemovedText[]): string | null {
  const length = removed.reduce((total, { text }) => total + text.length, 0);
  if (length === 0 || length > LENGTH_MAX) return null;
  return JSON.stringify(removed.map(({ client, clock, text }) => [client, clock, text]));
}

/** What `storedRemoved` gave; nothing of what it never gives. */
export function parseRemoved(stored: string): RemovedText[] {
  const value: unknown = JSON.parse(stored);
  return (Array.isArray(value) ? value : []).flatMap((entry: unknown) => {
    const [client, clock, text] = Array.isArray(entry) ? entry : [];
    const isWhole = Number.isInteger(client) && Number.isInteger(clock);
    return isWhole && typeof text === "string" ? [{ client, clock, text }] : [];
  });
}

/** A version of a text, as if all of it was taken out. */
export function piecesOf({ text, spans }: CapturedText): RemovedText[] {
  const pieces: RemovedText[] = [];
  let at = 0;
  for (const { client, clock, length } of spans) {
    if (client !== null) pieces.push({ client, clock, text: text.slice(at, at + length) });
    at += length;
  }
  return pieces;
}

/** What the lines say, without their breaks, of which `ids` names every character. */
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

/** Lines are written in one piece, but taken out in several when something came between them. */
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
