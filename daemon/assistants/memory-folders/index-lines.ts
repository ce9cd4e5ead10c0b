import { exceedsBytes } from "../../../shared/limits.ts";
import { readFrontMatter } from "../../../shared/replica/text/front-matter.ts";
import {
  joinForm,
  plainLines,
  splitForm,
  withoutMark,
} from "../../../shared/replica/text/text-form.ts";
import { isMendedLine, mayBeVersions } from "./mended-line.ts";
import { mergeTexts, type TextSides, uniteTexts } from "./merge-texts.ts";
import { type MetPair, metPairs } from "./met-pairs.ts";

/** An assistant reads so much of an index at the start of a session, and nothing beyond. */
const LINES_MAX = 200;
const BYTES_MAX = 25_000;
/** A line of the index is a hint, and every session pays for it. */
const HINT_CHARS_MAX = 120;
const HEADING = "# Memory Index\n\n";

/** Whether an assistant would read all of this index. */
export function isReadWhole(index: string): boolean {
  return plainLines(index).length <= LINES_MAX && !exceedsBytes(index, BYTES_MAX);
}

/**
 * Whether an index leads to a file. One that it does not name is never found. The end of another
 * file's name or path, and the beginning of one, name nothing.
 */
export function isNamedIn(index: string, name: string): boolean {
  if (index.includes(`[[${name.replace(/\.md$/, "")}]]`)) return true;
  return [name, encodeURI(name)].some((each) => {
    return new RegExp(`${NOT_BEHIND}(?:\\./)?${escaped(each)}${NOT_BEFORE}`, "u").test(index);
  });
}

const NOT_BEHIND = "(?<![\\p{L}\\p{N}_./\\\\-])";
const NOT_BEFORE = "(?![./-]?[\\p{L}\\p{N}_])";

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** The index with a line for one more file, after all others. */
export function withLineFor(
  index: string | undefined,
  { name, text }: { readonly name: string; readonly text: string },
): string {
  const { form, lines } = splitForm(index ?? HEADING);
  return joinForm(`${lines}${indexLine(name, text)}\n`, form);
}

/**
 * The index with a line for each of these files that it does not name, as far as an assistant
 * would read all of it; undefined where there is neither.
 */
export function withLinesFor(
  index: string | undefined,
  files: readonly { readonly name: string; readonly text: string }[],
): string | undefined {
  return files.reduce((before, file) => {
    if (before !== undefined && isNamedIn(before, file.name)) return before;
    const longer = withLineFor(before, file);
    return isReadWhole(longer) ? longer : before;
  }, index);
}

/** In the form in which Claude Code writes it. */
function indexLine(name: string, text: string): string {
  const head = readFrontMatter(text);
  const [title, hint] = [head?.name, head?.description].map(shortened);
  const label = (title ?? name.replace(/\.md$/, "")).replaceAll(/[[\]]/g, "");
  const target = /[\s()]/.test(name) ? `<${name}>` : name;
  return `- [${label}](${target})${hint === undefined ? "" : ` — ${hint}`}`;
}

function shortened(text: string | undefined): string | undefined {
  const characters = [...(text ?? "")];
  if (characters.length <= HINT_CHARS_MAX) return text;
  return `${characters
    .slice(0, HINT_CHARS_MAX - 1)
    .join("")
    .trimEnd()}…`;
}

/** All lines of the versions of an index, of which nobody knows what they were made of. */
export function uniteIndexes([first = "", ...others]: readonly string[]): string {
  return others.reduce(
    (united, other) => withoutRepeats(uniteTexts(united, other), [united, other]),
    first,
  );
}

/** The merge of two edits of an index. A line that both moved is in it once. */
export function mergeIndexes(sides: TextSides): string {
  return withoutRepeats(mergeTexts(sides).text, [sides.mine, sides.theirs]);
}

/**
 * No line that leads to a file stands more often in what two texts come to than in one of them.
 * Others may: each side may have meant its own, as the ends of a block of code.
 */
function withoutRepeats(merged: string, texts: readonly string[]): string {
  const linesOfTexts = texts.map(plainLines);
  const allowed = (line: string) =>
    Math.max(...linesOfTexts.map((lines) => lines.filter((each) => each === line).length));
  const seen = new Map<string, number>();
  const { form, lines } = splitForm(merged);
  const kept = lines.split("\n").filter((each) => {
    const line = withoutMark(each);
    if (!LEADS_TO_FILE.test(line)) return true;
    const count = (seen.get(line) ?? 0) + 1;
    seen.set(line, count);
    return count <= allowed(line);
  });
  return joinForm(kept.join("\n"), form);
}

/**
 * The lines of a merge of two indexes that somebody should compare. A line that leads to a file is
 * no version of one that leads to another, whatever stands in whose place: whoever took one of the
 * two out for that would leave a file that is never found. Of one file the merge may have more
 * lines than either side has, since one side has moved what the other rewrote.
 */
export function indexPairs(sides: TextSides, text: string): MetPair[] {
  const told = metPairs(sides, { text, places: [] }, isOfAnotherFile);
  const [base, mine, theirs, merged] = [sides.base, sides.mine, sides.theirs, text].map(byTarget);
  const moved = [...(base?.keys() ?? [])].flatMap((target) => {
    const [own = [], others = [], all = []] = [mine, theirs, merged].map((its) => its?.get(target));
    if (all.length <= Math.max(own.length, others.length)) return [];
    const [one] = all.filter((line) => own.includes(line) && !others.includes(line));
    const [other] = all.filter((line) => others.includes(line) && !own.includes(line));
    const isTold = told.some((pair) => isAmongLines(pair, all));
    if (one === undefined || other === undefined || isTold) return [];
    return [{ mine: `${one}\n`, theirs: `${other}\n` }];
  });
  return [...told, ...moved];
}

function isAmongLines({ mine, theirs }: MetPair, lines: readonly string[]): boolean {
  return [mine, theirs].every((line) => lines.includes(line.slice(0, -1)));
}

function isOfAnotherFile(line: string, later: string): boolean {
  const [target, other] = [line, later].map(targetOf);
  if (other === undefined || other === target) return false;
  return target !== undefined || !mayBeVersions(line, later);
}

/** The lines that lead to files, by the files. */
function byTarget(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of plainLines(text)) {
    const target = targetOf(line);
    if (target === undefined) continue;
    const lines = found.get(target);
    if (lines) lines.push(line);
    else found.set(target, [line]);
  }
  return found;
}

function targetOf(line: string): string | undefined {
  return LEADS_TO_FILE.exec(line)?.[1];
}

/** A line of a list that leads to a file. */
const LEADS_TO_FILE = /^\s*[-*+]\s.*?\]\(<?([^)>]+\.md)>?\)/;

/** Whether a line leads to the same file as another, or begins with all that the other is. */
export function isSameHint(line: string, later: string): boolean {
  const [target, other] = [line, later].map(targetOf);
  return target === undefined ? later.startsWith(line) : target === other;
}

/**
 * Whether a line may be another one that somebody went on with: it begins with all that the other
 * is, or leads to the same file and has half of the words of both. Likeness alone says nothing, for
 * an assistant's lines are alike by nature; nor does the file alone, of which two may write.
 */
export function isMendOf(line: string, later: string): boolean {
  if (later.startsWith(line)) return true;
  return LEADS_TO_FILE.test(line) && isSameHint(line, later) && isMendedLine(line, later);
}
