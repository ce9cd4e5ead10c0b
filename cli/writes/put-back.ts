import type { PlacedLines } from "../../shared/replica/conflicts/text-conflict-record.ts";
import {
  joinForm,
  splitForm,
  type TextForm,
  withoutMark,
} from "../../shared/replica/text/text-form.ts";
import { splitLines } from "../../daemon/files/text-lines.ts";

/** A content taken apart, to put lines into it and to take lines out of it. */
export interface OpenContent {
  readonly form: TextForm;
  readonly lines: readonly string[];
}

export function openContent(content: string): OpenContent {
  const { form, lines } = splitForm(content);
  return { form, lines: splitLines(lines) };
}

/** The content with these lines in the place of `removed` ones from `at`. */
export function spliceLines(
  { form, lines }: OpenContent,
  at: number,
  removed: number,
  put: string,
) {
  const spliced = [...lines];
  spliced.splice(at, removed, ...splitLines(put));
  return joinForm(spliced.join(""), form);
}

/** The content without some lines, by index. */
export function withoutLines({ form, lines }: OpenContent, gone: ReadonlySet<number>): string {
  return joinForm(lines.filter((_, at) => !gone.has(at)).join(""), form);
}

/**
 * The text with whole lines put back: behind `neighbour`, the lines that they stood beside, or at
 * the end where those are not there any more. The text keeps its line endings.
 */
export function putBack(content: string, lines: string, neighbour: string): string {
  const open = openContent(content);
  const end = neighbour === "" ? undefined : endOfNeighbour(open, neighbour);
  return spliceLines(open, end ?? open.lines.length, 0, lines);
}

/**
 * The text with lines put back where they stood, and the blank lines that were beside them; at the
 * beginning what stood behind nothing.
 */
export function putAtPlaces(content: string, places: readonly PlacedLines[]): string {
  return places.reduce((text, { behind, text: lines, before = 0, after = 0 }) => {
    const whole = `${"\n".repeat(before)}${lines}${"\n".repeat(after)}`;
    const neighbour = withoutLast(behind, before);
    if (neighbour !== "") return putBack(text, whole, neighbour);
    return spliceLines(openContent(text), 0, 0, whole);
  }, content);
}

/** What lines stood behind, without the blank ones that are put back with them. */
function withoutLast(behind: string, blanks: number): string {
  return splitLines(behind)
    .slice(0, blanks === 0 ? undefined : -blanks)
    .join("");
}

/** Lines of a text, by index. */
export interface FoundLines {
  readonly at: number;
  readonly count: number;
}

/**
 * Where lines stand in a text: behind what they stood behind, or else where they stand once, not
 * far from there. Undefined where they are not there, or at several places of which nobody can say
 * which.
 */
export function findPlace(
  { lines }: OpenContent,
  { behind, text }: PlacedLines,
): FoundLines | undefined {
  const [there, wanted, before] = [lines.map(withoutMark), saidLines(text), saidLines(behind)];
  const found = occurrences(there, wanted);
  const here = found.filter((at) => {
    return before.length === 0 ? at === 0 : standsAt(there, at - before.length, before);
  });
  const [at] = here.length === 1 ? here : found;
  if (at === undefined) return undefined;
  const isSure = here.length === 1 || (found.length === 1 && isNear(there, at, before));
  return isSure ? { at, count: wanted.length } : undefined;
}

/** So many lines may have come between lines and what they stood behind. */
const NEAR_LINES = 8;

/** Whether what lines stood behind is a little above them still, or nowhere any more. */
function isNear(lines: readonly string[], at: number, behind: readonly string[]): boolean {
  const neighbour = behind.findLast((line) => line.trim() !== "");
  if (neighbour === undefined || !lines.includes(neighbour)) return true;
  return lines.slice(Math.max(0, at - NEAR_LINES), at).includes(neighbour);
}

/** Lines of a place, and those blank ones that came with them, as far as they are still there. */
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

function standsAt(lines: readonly string[], at: number, wanted: readonly string[]): boolean {
  return at >= 0 && wanted.every((line, i) => lines[at + i] === line);
}

/** Where whole lines stand together. */
function occurrences(lines: readonly string[], wanted: readonly string[]): number[] {
  if (wanted.length === 0) return [];
  return lines.flatMap((_, at) => (standsAt(lines, at, wanted) ? [at] : []));
}

/**
 * Where the lines end that others stood beside: all of them, or the last ones, with or without the
 * blank ones among them.
 */
function endOfNeighbour(open: OpenContent, text: string): number | undefined {
  const lines = saidLines(text);
  const said = lines.filter((line) => line.trim() !== "");
  return (
    endOfLast(lines, (rest) => endOfLines(open, rest, false)) ??
    endOfLast(said, (rest) => endOfLines(open, rest))
  );
}

/** Of all lines, or of as many of the last ones as are found. */
function endOfLast(lines: readonly string[], endOf: (lines: string) => number | undefined) {
  for (let from = 0; lines.slice(from).some((line) => line.trim() !== ""); from++) {
    const end = endOf(lines.slice(from).join(""));
    if (end !== undefined) return end;
  }
  return undefined;
}

/** Where the last of the lines ends, if they stand together in the text, or at least in order. */
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
