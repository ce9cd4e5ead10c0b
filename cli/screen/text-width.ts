/** Characters of two columns: East Asian wide ones, and pictures. */
const WIDE =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;
/** Characters of no width: accents and the like, and the marks of tones. */
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}\ufdd0-\ufdd3]+$/u;
const ASCII = /^[\x20-\x7e]*$/;
/** Lines whose characters are one column each, or marks of tones. Nearly all lines are. */
const PLAIN = /^[\x20-\x7e\ufdd0-\ufdd3]*$/;

let segmenter: Intl.Segmenter | undefined;

/**
 * A line's characters as a reader counts them. The segmenter is kept, because creating one takes
 * over a millisecond, and is not asked about what is plain: it takes a microsecond for each letter.
 */
function charactersOf(line: string): Iterable<string> {
  if (PLAIN.test(line)) return line;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(line), ({ segment }) => segment);
}

/** How many columns a line takes on a terminal. */
export function shownColumns(line: string): number {
  if (ASCII.test(line)) return line.length;
  let columns = 0;
  for (const character of charactersOf(line)) columns += columnsOfOne(character);
  return columns;
}

function columnsOfOne(character: string): number {
  if (ASCII.test(character)) return 1;
  if (NOTHING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** The line, padded with spaces to this many columns. */
export function padded(line: string, columns: number): string {
  return line + " ".repeat(Math.max(0, columns - shownColumns(line)));
}

/** The line's beginning if it takes more columns. Never cuts a character in two. */
export function cut(line: string, columnsMax: number): string {
  if (columnsMax === Infinity) return line;
  let [columns, kept] = [0, 0];
  for (const character of charactersOf(line)) {
    columns += columnsOfOne(character);
    if (columns > columnsMax) return `${line.slice(0, kept)}…`;
    if (columns < columnsMax) kept += character.length;
  }
  return line;
}

/** A command for a shell, in several lines that fit and that the shell reads as one. */
export function brokenCommand(line: string, columnsMax: number): string[] {
  const indent = (/^ */.exec(line)?.[0].length ?? 0) + 2;
  const lines = wrapped(line, columnsMax - 2, indent);
  return lines.map((each, at) => (at < lines.length - 1 ? `${each} \\` : each));
}

/**
 * The line, broken at spaces into lines of this width; lines after the first are indented, as far
 * as a long word leaves room for it. A word that is wider than the lines stays whole.
 *
 * ```
 * wrapped("one two three", 9, 2); // ["one two", "  three"]
 * ```
 */
export function wrapped(line: string, columnsMax: number, indent: number): string[] {
  const lines: string[] = [];
  let [current, columns] = ["", 0];
  for (const word of line.match(/ *[^ ]+/g) ?? []) {
    const more = shownColumns(word);
    if (current !== "" && columns + more > columnsMax) {
      lines.push(current);
      const alone = more - (word.length - word.trimStart().length);
      const room = alone > columnsMax ? indent : Math.min(indent, columnsMax - alone);
      current = " ".repeat(room) + word.trimStart();
      columns = room + alone;
    } else {
      current += word;
      columns += more;
    }
  }
  columns += line.length - line.trimEnd().length;
  return lines.length === 0 && columns <= columnsMax ? [line] : [...lines, current];
}

/**
 * A line whose words may be too wide for the screen, in parts that are not: it is broken behind a
 * slash, or else anywhere. Parts after the first are indented.
 *
 * ```
 * brokenLine("  /srv/code/shop", 12, 4); // ["  /srv/code/", "    shop"]
 * ```
 */
export function brokenLine(line: string, columnsMax: number, indent: number): string[] {
  const start = " ".repeat(Math.min(indent, Math.floor(columnsMax / 2)));
  const parts: string[] = [];
  let rest = line;
  while (shownColumns(rest) > columnsMax) {
    const end = endOfPart(rest, columnsMax);
    parts.push(rest.slice(0, end));
    rest = start + rest.slice(end);
  }
  return [...parts, rest];
}

/** How much of a line fits: to its last slash if that is in the second half. */
function endOfPart(line: string, columnsMax: number): number {
  let [columns, end] = [0, 0];
  for (const character of charactersOf(line)) {
    columns += columnsOfOne(character);
    if (columns > columnsMax) break;
    end += character.length;
  }
  const slash = line.lastIndexOf("/", end - 1) + 1;
  return slash > end / 2 ? slash : end;
}
