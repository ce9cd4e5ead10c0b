import type { Dice } from "./dice.ts";
import type { Phrases } from "./phrases.ts";
import { linesOf, type TextLedger } from "./text-ledger.ts";

const LINES_MAX = 60;
const BLOCK_LINES_MAX = 5;

/** What somebody changes a text with. */
export interface ChangeOptions {
  readonly dice: Dice;
  readonly phrases: Phrases;
  readonly ledger: TextLedger;
  readonly author: string;
  /** What the same person had in the file before. */
  readonly earlier: readonly string[];
}

/** One line more that nobody else writes, now and then some that others may, and some fewer. */
export function changePlainly(options: ChangeOptions, before: string): string {
  const { dice, phrases, author } = options;
  const lines = wholeLines(before);
  const deleted = dice.chance(lines.length > LINES_MAX ? 1 : 0.3) ? 1 + dice.below(4) : 0;
  if (deleted > 0) lines.splice(dice.below(lines.length + 1), deleted);
  const added = [phrases.own(author)];
  if (dice.chance(0.3)) added.push(...phrases.paragraph());
  if (dice.chance(0.2)) added.unshift("");
  const ending = before.includes("\r\n") ? "\r\n" : "\n";
  lines.splice(dice.below(lines.length + 1), 0, ...added.map((line) => line + ending));
  const text = lines.join("");
  return dice.chance(0.1) ? text.replace(/\r?\n$/, "") : text;
}

type Change = (options: ChangeOptions, lines: string[], text: string) => string;

const ROUGH: readonly Change[] = [retype, move, pasteBack, setMark, setBreaks, deleteSome];

/** What people do to texts besides: each leaves all that it does not say. */
export function changeRoughly(options: ChangeOptions, before: string): string {
  return options.dice.pick(ROUGH)(options, wholeLines(before), before);
}

/** A line that was deleted is written once more. */
function retype({ dice, ledger }: ChangeOptions, lines: string[], text: string): string {
  const { gone } = ledger;
  if (gone.length === 0) return text;
  lines.splice(dice.below(lines.length + 1), 0, `${dice.pick(gone)}\n`);
  return lines.join("");
}

/** A block is cut out and pasted elsewhere. */
function move({ dice, ledger }: ChangeOptions, lines: string[], text: string): string {
  if (lines.length < 2) return text;
  // What the moved lines passed may as well be said to have moved.
  ledger.moved(linesOf(text));
  const block = lines.splice(dice.below(lines.length), 1 + dice.below(BLOCK_LINES_MAX));
  lines.splice(dice.below(lines.length + 1), 0, ...block);
  return lines.join("");
}

/** A section as it was earlier is pasted back, with one line changed. */
function pasteBack(options: ChangeOptions, lines: string[], text: string): string {
  const { dice, phrases, ledger, author, earlier } = options;
  if (earlier.length === 0) return text;
  const old = wholeLines(dice.pick(earlier));
  if (old.length === 0) return text;
  const from = dice.below(old.length);
  const section = old.slice(from, from + 1 + dice.below(BLOCK_LINES_MAX));
  ledger.moved(linesOf(section.join("")));
  section[dice.below(section.length)] = `${phrases.own(author)}\n`;
  lines.splice(dice.below(lines.length + 1), 0, ...section);
  return lines.join("");
}

function setMark(_options: ChangeOptions, _lines: string[], text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : `\uFEFF${text}`;
}

function setBreaks(_options: ChangeOptions, _lines: string[], text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text.replaceAll("\n", "\r\n");
}

function deleteSome({ dice }: ChangeOptions, lines: string[]): string {
  lines.splice(dice.below(lines.length + 1), 1 + dice.below(BLOCK_LINES_MAX));
  return lines.join("");
}

/** Each line with a line break, the last one, too. */
export function wholeLines(text: string): string[] {
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return whole.split(/(?<=\n)/).filter((line) => line !== "");
}
