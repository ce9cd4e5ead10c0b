import { splitLines } from "../../daemon/files/lines/text-lines.ts";
import type { PlacedLines } from "../../shared/replica/conflicts/text-conflict-record.ts";
import { headingsIn } from "../../shared/replica/text/headings.ts";
import { commonLines, hasWord } from "../../shared/replica/text/line-diff.ts";
import {
  joinForm,
  splitForm,
  type TextForm,
  withoutMark,
} from "../../shared/replica/text/text-form.ts";
import { type FoundLines, occurrences } from "../local/find-version.ts";

/** A content split into lines, to put some in and take some out. */
export interface OpenContent {
  readonly form: TextForm;
  readonly lines: readonly string[];
}

export function openContent(content: string): OpenContent {
  const { form, lines } = splitForm(content);
  return { form, lines: splitLines(lines) };
}

/** The content with these lines in place of `removed` ones at `at`. */
export function spliceLines(
  { form, lines }: OpenContent,
  at: number,
  { removed, put }: { readonly removed: number; readonly put: string },
) {
  const spliced = [...lines];
  spliced.splice(at, removed, ...splitLines(put));
  return joinForm(spliced.join(""), form);
}

/** The content without these lines, by index. */
export function withoutLines({ form, lines }: OpenContent, gone: ReadonlySet<number>): string {
  return joinForm(lines.filter((_, at) => !gone.has(at)).join(""), form);
}

/**
 * Puts whole lines back: behind `neighbour`, the lines that they were beside, or at the end where
 * those are missing. The text keeps its line endings.
 */
export function putBack(content: string, lines: string, neighbour: string): string {
  const open = openContent(content);
  const end = neighbour === "" ? undefined : endOfNeighbour(open, neighbour);
  return spliceLines(open, end ?? open.lines.length, { removed: 0, put: lines });
}

/** A text, and how many of the lines to put in were there already. */
export interface PutBack {
  readonly content: string;
  readonly there: number;
}

/**
 * Puts lines back at their places, with the blank lines that were beside them. Lines that were
 * behind nothing go to the beginning.
 */
export function putAtPlaces(content: string, places: readonly PlacedLines[]): string {
  return places.reduce(putWhole, content);
}

/** Like `putAtPlaces`, but does not double lines that somebody has put back already. */
export function completeAtPlaces(content: string, places: readonly PlacedLines[]): PutBack {
  let [text, there] = [content, 0];
  for (const place of places) {
    const partly = completed(text, place);
    text = partly?.content ?? putWhole(text, place);
    there += partly?.there ?? 0;
  }
  return { content: text, there };
}

/** The lines of a place, with the blank ones that came with them. */
export function withOwnBlanks({ text, before = 0, after = 0 }: PlacedLines): string {
  return `${"\n".repeat(before)}${text}${"\n".repeat(after)}`;
}

function putWhole(content: string, place: PlacedLines): string {
  const whole = withOwnBlanks(place);
  const neighbour = withoutLast(place.behind, place.before ?? 0);
  if (neighbour !== "") return putBack(content, whole, neighbour);
  return spliceLines(openContent(content), 0, { removed: 0, put: whole });
}

/** Adds the missing lines of a place; undefined where none of its lines is there. */
function completed(content: string, place: PlacedLines): PutBack | undefined {
  const open = openContent(content);
  const [lines, wanted] = [open.lines.map(withoutMark), saidLines(place.text)];
  const neighbour = saidLines(place.behind).some((line) => line.trim() !== "");
  const from = neighbour ? endOfNeighbour(open, place.behind) : 0;
  if (from === undefined) return undefined;
  const there = lines.slice(from, endOfRegion(lines, from, place));
  const pairs = commonLines(wanted, there);
  const said = pairs.filter(([at]) => hasWord(wanted[at] ?? ""));
  if (said.length === 0) return undefined;
  const spliced: string[] = [];
  let [done, next] = [0, 0];
  for (const [at, index] of [...pairs, [wanted.length, there.length] as const]) {
    // Lines that somebody put among them stay where they are.
    const lacking = wanted.slice(done, at);
    spliced.push(...lacking, ...open.lines.slice(from + next, from + index));
    if (at < wanted.length) spliced.push(open.lines[from + index] ?? "");
    [done, next] = [at + 1, index + 1];
  }
  const rest = open.lines.slice(from + there.length);
  const whole = [...open.lines.slice(0, from), ...spliced, ...rest].join("");
  return { content: joinForm(whole, open.form), there: said.length };
}

/** The end of the lines from `from` on that may belong to a place. */
function endOfRegion(lines: readonly string[], from: number, place: PlacedLines): number {
  const wanted = new Set(saidLines(place.text));
  const { ahead } = place;
  const isKnown = ahead === "" || (ahead !== undefined && lines.indexOf(ahead, from) !== -1);
  const headings = headingsIn(lines);
  const isOther = (line: string, at: number) => {
    if (at < from || line.trim() === "" || wanted.has(line)) return false;
    return !isKnown || line === ahead || headings.has(at);
  };
  const at = lines.findIndex(isOther);
  return at === -1 ? lines.length : at;
}

/** What lines were behind, without the blank lines that are put back with them. */
function withoutLast(behind: string, blanks: number): string {
  return splitLines(behind)
    .slice(0, blanks === 0 ? undefined : -blanks)
    .join("");
}

/** The lines of a place and the blank lines that came with them, as far as they are still there. */
export function withBlanks(
  { lines }: OpenContent,
  { at, count }: FoundLines,
  { before = 0, after = 0 }: PlacedLines,
): FoundLines {
  const isBlank = (index: number) => lines[index]?.trim() === "";
  let [from, to] = [at, at + count];
  while (at - from < before && isBlank(from - 1)) from--;
  while (to - at - count < after && isBlank(to)) to++;
  return { at: from, count: to - from };
}

function saidLines(text: string): string[] {
  return splitLines(text).map(withoutMark);
}

/**
 * Where the lines end that others were beside: all of them, or the last ones, with or without the
 * blank lines among them.
 */
function endOfNeighbour(open: OpenContent, text: string): number | undefined {
  const lines = saidLines(text);
  const said = lines.filter((line) => line.trim() !== "");
  return (
    endOfLast(lines, (rest) => endOfLines(open, rest, false)) ??
    endOfLast(said, (rest) => endOfLines(open, rest))
  );
}

/** Where all lines end, or as many of the last ones as are found. */
function endOfLast(lines: readonly string[], endOf: (lines: string) => number | undefined) {
  for (let from = 0; lines.slice(from).some((line) => line.trim() !== ""); from++) {
    const end = endOf(lines.slice(from).join(""));
    if (end !== undefined) return end;
  }
  return undefined;
}

/** Where the last line ends, if the lines are together in the text, or at least in order. */
function endOfLines({ lines }: OpenContent, text: string, mayPart = true): number | undefined {
  const [there, wanted] = [lines.map(withoutMark), saidLines(text)];
  if (wanted.length === 0) return 0;
  const [together] = occurrences(there, wanted);
  if (together !== undefined) return together + wanted.length;
  if (!mayPart) return undefined;
  let end = 0;
  for (const line of wanted) {
    const at = there.indexOf(line, end);
    if (at === -1) return undefined;
    end = at + 1;
  }
  return end;
}
