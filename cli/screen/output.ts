import { count } from "../../shared/count.ts";
import { type TableLayout, tableLines, tableOfSentences } from "./table-layout.ts";
import { hasColours, hasTerminal, styled, widthOf } from "./terminal.ts";
import { brokenCommand, cut, shownColumns, wrapped } from "./text-width.ts";
import { inOneLine, visible, visibleJson, visibleLines, visibleStyled } from "./visible.ts";

export { count };

/** Prints one line, with whatever a terminal would obey written out. */
export function say(line: string): void {
  process.stdout.write(`${visibleStyled(line, hasColours())}\n`);
}

/** Prints a sentence, wrapped on a narrow terminal; a remark is dimmed there. */
export function saySentence(sentence: string, kind: "plain" | "remark" = "plain"): void {
  for (const line of inLines(sentence, process.stdout)) {
    say(kind === "remark" ? styled("dim", line) : line);
  }
}

/**
 * Prints a command for a shell, wrapped on a narrow terminal so that it still works when copied.
 */
export function sayCommand(line: string): void {
  const width = widthOf(process.stdout);
  const lines = shownColumns(line) <= width ? [line] : brokenCommand(line, width);
  for (const each of lines) say(each);
}

/** Prints lines, wrapped between words; continuation lines are indented. */
export function sayText(lines: readonly string[]): void {
  const width = widthOf(process.stdout);
  for (const line of lines) {
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    for (const each of wrapped(line, width, Math.min(indent, width / 2) + SENTENCE_INDENT))
      say(each);
  }
}

/** A sentence in lines that a terminal does not break within a word. */
export function inLines(sentence: string, stream: NodeJS.WriteStream): string[] {
  return wrapped(visible(sentence), widthOf(stream), SENTENCE_INDENT);
}

const said = new Set<string>();

/** Prints a remark on standard error. Each remark only once. */
export function sayAside(sentence: string): void {
  if (said.has(sentence)) return;
  said.add(sentence);
  complain(sentence);
}

/** Prints an error on standard error, and further lines below it. */
export function complain(sentence: string, further: readonly string[] = []): void {
  const shown = [`memsync: ${sentence}`, ...further].flatMap((each) =>
    inLines(each, process.stderr),
  );
  process.stderr.write(`${shown.join("\n")}\n`);
}

/**
 * Prints the rows of a table. A program that reads them gets names and texts as they are, a
 * terminal with what it would obey written out.
 */
export function sayRows(rows: readonly string[]): void {
  for (const row of rows) {
    if (hasTerminal()) say(row);
    else process.stdout.write(`${row}\n`);
  }
}

/** A cell of a table, in one line. */
function cellShown(cell: string): string {
  return hasTerminal() ? visible(cell) : inOneLine(cell);
}

let isJsonSaid = false;

/** Whether a value for `--json` was printed. */
export function hasSaidJson(): boolean {
  return isJsonSaid;
}

/** Prints a value for `--json`. */
export function sayJson(value: unknown): void {
  isJsonSaid = true;
  process.stdout.write(`${visibleJson(JSON.stringify(value, null, 2))}\n`);
}

/**
 * Prints a value. A program gets it unchanged; a terminal in lines that all have an end, with what
 * it would obey written out: others write values, too.
 */
export function printText(text: string): void {
  const { stdout } = process;
  if (!stdout.isTTY) stdout.write(text);
  else stdout.write(visibleLines(text.replaceAll("\r\n", "\n").replace(/[^\n]$/, "$&\n")));
}

/** Indentation of continuation lines of a sentence. */
const SENTENCE_INDENT = 2;

/** Length of a name in a table on a terminal. */
const NAME_LENGTH_MAX = 24;

/**
 * Rows in aligned columns that fit the terminal: if necessary, `spare` columns are left out, the
 * least needed first, and the last column is cut. Without a terminal everything is printed. To be
 * printed by `sayRows`.
 */
export function table(
  given: readonly (readonly string[])[],
  spare: readonly number[] = [],
  { isLastWhole = false }: Pick<TableLayout, "isLastWhole"> = {},
): string[] {
  const rows = given.map((row) => row.map(cellShown));
  return tableLines(rows, { width: widthOf(process.stdout), spare, isLastWhole });
}

/** The same for rows that end with a sentence, which is wrapped on a terminal. */
export function tableInLines(given: readonly (readonly string[])[]): string[] {
  const rows = given.map((row) => row.map(visible));
  return tableOfSentences(rows, widthOf(process.stdout));
}

/** A name for a table, short enough on a terminal to leave room for other columns. */
export function shortName(text: string): string {
  return hasTerminal() ? cut(firstLine(text), NAME_LENGTH_MAX) : text;
}

/** The first line of a text that is not blank, for a table. */
export function firstLine(given: string): string {
  const blank = /^\s*[\r\n]/.exec(given)?.[0].length ?? 0;
  const text = blank < given.length ? given.slice(blank) : given;
  const end = text.search(/[\r\n]/);
  const line = cellShown(end === -1 ? text : text.slice(0, end));
  return end === -1 ? line : `${line} …`;
}

const BYTES_STEP = 1024;
const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** `512 bytes`, `3.4 MiB`. */
export function bytesShown(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= BYTES_STEP && unit < UNITS.length - 1) {
    value /= BYTES_STEP;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** A moment on this machine's clock: `09:18` today, `2026-11-21` on another day. */
export function momentShown(timestamp: string, now: number): string {
  const at = new Date(timestamp);
  const dayOf = (day: Date) =>
    [day.getFullYear(), day.getMonth() + 1, day.getDate()].map(twoDigits).join("-");
  const isToday = dayOf(at) === dayOf(new Date(now));
  return isToday ? [at.getHours(), at.getMinutes()].map(twoDigits).join(":") : dayOf(at);
}

/** The time of day on this machine's clock, `09:18:05`, of milliseconds since the Unix epoch. */
export function clockShown(time: number): string {
  const at = new Date(time);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(":");
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

/** When a moment comes: `in 43 s`, or `now`. */
export function comingShown(timestamp: string, now: number): string {
  const spanMs = Date.parse(timestamp) - now;
  return spanMs > 0 ? `in ${spanShown(spanMs)}` : "now";
}

const MS_PER_S = 1000;
const S_PER_MIN = 60;
const S_PER_H = 3600;
const S_PER_DAY = 86_400;

/** A span of time in its two largest units: `43 s`, `2 min 5 s`, `11 h 3 min`, `4 days`. */
export function spanShown(spanMs: number): string {
  const seconds = Math.max(0, Math.ceil(spanMs / MS_PER_S));
  if (seconds < S_PER_MIN) return `${seconds} s`;
  if (seconds < S_PER_H) return `${Math.floor(seconds / S_PER_MIN)} min ${seconds % S_PER_MIN} s`;
  const minutes = Math.floor((seconds % S_PER_H) / S_PER_MIN);
  if (seconds < S_PER_DAY) return `${Math.floor(seconds / S_PER_H)} h ${minutes} min`;
  return count(Math.floor(seconds / S_PER_DAY), "day", "days");
}
