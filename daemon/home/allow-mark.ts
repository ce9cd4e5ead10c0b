/**
 * In a line, this mark says that what looks like a secret there is none. Alone in a line, it says
 * so of the next line.
 */
export const ALLOW_MARK = "memsync:allow-secret";

/** With the signs of a comment around it. */
const AS_COMMENT = new RegExp(
  `(?:<!--|(?<!\\S)(?:#|//|;|--|/\\*))? ?${ALLOW_MARK} ?(?:-->|\\*/)?`,
  "g",
);

/** A line whose blanks are single spaces, as it would be without the mark. */
export function withoutAllowMark(line: string): string {
  if (!line.includes(ALLOW_MARK)) return line;
  return line.replace(AS_COMMENT, " ").replace(/ +/g, " ").trim();
}
