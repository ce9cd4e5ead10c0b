import type { Draft } from "./draft.ts";
import { isNamed } from "./lines.ts";
import type { Words } from "./words.ts";

const LINES_MAX = 45;
const LINES_FEW = 12;
const BLOCK_MAX = 6;
const SECTION_MAX = 10;

/** Sections that somebody cut out, to be pasted back some time. */
export type Clipboard = string[][];

/** Does one thing to a draft, chosen by the dice, and notes it there; `forms`: its form, too. */
export function edit(draft: Draft, words: Words, clipboard: Clipboard, forms: boolean): void {
  const { dice } = words;
  const { length } = draft.lines;
  if (length > LINES_MAX && dice.chance(0.7)) cut(draft, words, clipboard, SECTION_MAX);
  else if (length < LINES_FEW) add(draft, words);
  else if (forms && dice.chance(0.06)) changeForm(draft, words);
  else dice.pick(EDITS)(draft, words, clipboard);
}

type Edit = (draft: Draft, words: Words, clipboard: Clipboard) => void;

const EDITS: readonly Edit[] = [
  add,
  add,
  add,
  addAlike,
  remove,
  remove,
  retype,
  retype,
  move,
  (draft, words, clipboard) => cut(draft, words, clipboard, BLOCK_MAX),
  pasteBack,
  pasteBack,
];

/** Writes a section anew: some of its lines stay, some go, some come. */
export function rewriteSection(draft: Draft, words: Words): void {
  const { dice } = words;
  const { at, count } = blockIn(draft, words, SECTION_MAX);
  const kept = draft.lines.slice(at, at + count).flatMap((line) => {
    if (!isNamed(line) || dice.chance(0.6)) return [line];
    return dice.chance(0.5) ? [] : [words.retyped(line)];
  });
  const added = Array.from({ length: dice.below(3) + 1 }, () => words.line());
  draft.lines.splice(at, count, ...kept, ...added);
  draft.done.push(`rewrote ${count} lines at ${at}`);
}

function add(draft: Draft, words: Words): void {
  const { dice } = words;
  const lines = Array.from({ length: 1 + dice.below(3) }, () => words.line());
  if (dice.chance(0.25)) lines.unshift("", words.heading(), "");
  if (dice.chance(0.1)) lines.push("```sh", words.line(), "```");
  const at = dice.chance(0.4) ? draft.lines.length : dice.below(draft.lines.length + 1);
  draft.lines.splice(at, 0, ...lines);
  draft.done.push(`typed ${lines.length} lines at ${at}`);
}

function addAlike(draft: Draft, words: Words): void {
  const line = words.alike();
  if (draft.lines.includes(line)) return;
  const at = words.dice.below(draft.lines.length + 1);
  draft.lines.splice(at, 0, line);
  draft.done.push(`typed "${line}" at ${at}`);
}

function remove(draft: Draft, words: Words): void {
  const { at, count } = blockIn(draft, words, 4);
  draft.lines.splice(at, count);
  draft.done.push(`deleted ${count} lines at ${at}`);
}

function retype(draft: Draft, words: Words): void {
  const at = words.dice.below(draft.lines.length);
  const line = draft.lines[at] ?? "";
  if (!isNamed(line)) return;
  draft.lines[at] = words.retyped(line);
  draft.done.push(`retyped line ${at}`);
}

function move(draft: Draft, words: Words): void {
  const { at, count } = blockIn(draft, words, BLOCK_MAX);
  const block = draft.lines.splice(at, count);
  const to = words.dice.below(draft.lines.length + 1);
  draft.lines.splice(to, 0, ...block);
  const passed = draft.lines.slice(Math.min(at, to), Math.max(at, to) + count);
  for (const line of passed) draft.moved.add(line);
  draft.done.push(`moved ${count} lines from ${at} to ${to}`);
}

function cut(draft: Draft, words: Words, clipboard: Clipboard, max: number): void {
  const { at, count } = blockIn(draft, words, max);
  clipboard.push(draft.lines.splice(at, count));
  draft.done.push(`cut ${count} lines at ${at}`);
}

/** What is in the draft already is not pasted: nobody wants it twice. */
function pasteBack(draft: Draft, words: Words, clipboard: Clipboard): void {
  const { dice } = words;
  const block = clipboard.pop()?.filter((line) => !isNamed(line) || !draft.lines.includes(line));
  if (!block?.some(isNamed)) return;
  const change = dice.chance(0.7) ? dice.below(block.length) : -1;
  const line = block[change];
  if (line !== undefined && isNamed(line)) block[change] = words.retyped(line);
  const at = dice.below(draft.lines.length + 1);
  draft.lines.splice(at, 0, ...block);
  draft.done.push(`pasted ${block.length} lines back at ${at}`);
}

function changeForm(draft: Draft, { dice }: Words): void {
  const { mark, crlf, ends } = draft.form;
  const changed = dice.pick(["mark", "crlf", "ends"] as const);
  draft.form = {
    mark: changed === "mark" ? !mark : mark,
    crlf: changed === "crlf" ? !crlf : crlf,
    ends: changed === "ends" ? !ends : ends,
  };
  draft.done.push(`changed the file's ${changed}`);
}

function blockIn(draft: Draft, { dice }: Words, max: number) {
  const at = dice.below(draft.lines.length);
  return { at, count: Math.min(1 + dice.below(max), draft.lines.length - at) };
}
