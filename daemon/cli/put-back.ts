import type { PlacedLines } from "../../shared/replica/text-conflict-record.ts";
import { joinForm, splitForm } from "../../shared/replica/text-form.ts";

/** Whether whole lines stand in a text, in their order. */
export function holdsLines(content: string, lines: string): boolean {
  return endOfLines(splitForm(content).lines, lines) !== undefined;
}

/** Whether any of these lines that is no blank one stands in a text. */
export function holdsAnyLine(content: string, lines: string): boolean {
  const there = new Set(splitForm(content).lines.split("\n"));
  return lines.split("\n").some((line) => line.trim() !== "" && there.has(line));
}

/**
 * The text with whole lines put back: behind `neighbour`, the lines that they stood beside, or at
 * the end where those are not there any more. The text keeps its line endings.
 */
export function putBack(content: string, lines: string, neighbour: string): string {
  const { form, lines: text } = splitForm(content);
  const end = neighbour === "" ? undefined : endOfLines(text, neighbour);
  const at = end ?? text.length;
  return joinForm(text.slice(0, at) + lines + text.slice(at), form);
}

/** The text with lines put back where they stood; at the beginning what stood behind nothing. */
export function putAtPlaces(content: string, places: readonly PlacedLines[]): string {
  return places.reduce((text, { behind, text: lines }) => {
    if (behind !== "") return putBack(text, lines, behind);
    const { form, lines: rest } = splitForm(text);
    return joinForm(lines + rest, form);
  }, content);
}

/**
 * Where lines stand in a text, from and to: behind what they stood behind, or else where they stand
 * once. Undefined where they are not there, or at several places of which nobody can say which.
 */
export function findPlace(text: string, { behind, text: lines }: PlacedLines) {
  const found = occurrences(text, lines);
  const here = found.filter((at) => {
    return behind === "" ? at === 0 : isLineStart(text, at - behind.length, behind);
  });
  const [at] = here.length === 1 ? here : found;
  const isSure = here.length === 1 || found.length === 1;
  return isSure && at !== undefined ? { from: at, to: at + lines.length } : undefined;
}

function isLineStart(text: string, at: number, lines: string): boolean {
  return at >= 0 && text.startsWith(lines, at) && (at === 0 || text[at - 1] === "\n");
}

/** Where whole lines stand together. */
function occurrences(text: string, lines: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(lines); lines !== "" && at !== -1; at = text.indexOf(lines, at + 1)) {
    if (isLineStart(text, at, lines)) found.push(at);
  }
  return found;
}

/** Where the last of the lines ends, if they stand together in the text, or at least in order. */
function endOfLines(text: string, lines: string): number | undefined {
  const together = `\n${text}`.indexOf(`\n${lines}`);
  if (together !== -1) return together + lines.length;
  let end = 0;
  for (const line of lines.match(/[^\n]*\n/g) ?? []) {
    const at = `\n${text}`.indexOf(`\n${line}`, end);
    if (at === -1) return undefined;
    end = at + line.length;
  }
  return end;
}
