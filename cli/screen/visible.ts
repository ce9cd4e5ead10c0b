/**
 * Control characters, and those that change the order of what is beside them. A terminal obeys
 * them, so a name or a text that has some could show anything.
 */
const OBEYED = /[^\P{Cc}\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
/** The same without line breaks and tabs. */
const OBEYED_IN_LINES = /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r" };

/**
 * One line for a terminal: what it would obey is written out, as in `\n` and `\x1b`. A tab becomes
 * a space.
 */
export function visible(line: string): string {
  return withTabs(line).replaceAll("\t", " ");
}

/**
 * One line for a program, which has to get what was written: only line breaks are written out.
 */
export function inOneLine(line: string): string {
  return line.replace(/[\n\r]/g, writtenOut);
}

function withTabs(line: string): string {
  return line.replace(OBEYED, writtenOut);
}

/** The same for lines: their breaks and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(OBEYED_IN_LINES, writtenOut);
}

function writtenOut(character: string): string {
  const short = ESCAPES[character];
  if (short !== undefined) return short;
  const code = character.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
}

/** What `styleText` puts around a word, for the styles in use. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal obeys
const STYLE = /(\u001b\[(?:[012]|22|(?:1;)?3[1-6]|39)m)/;

/** The same for a line whose words may have a style. Tabs stay. */
export function visibleStyled(line: string, hasColours: boolean): string {
  if (!hasColours) return withTabs(line);
  return line
    .split(STYLE)
    .map((part, at) => (at % 2 === 0 ? withTabs(part) : part))
    .join("");
}

/** JSON for a terminal: it is equal, and has no control character either. */
export function visibleJson(json: string): string {
  return json.replace(OBEYED_IN_LINES, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
