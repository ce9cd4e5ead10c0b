/** The key of the memory that the personal text is. */
export const PERSONAL_KEY = "personal/instructions";

/** The first line of the personal text as a memory has it. */
export const PERSONAL_MARK =
  /^<!--\s+memsync:personal\s+version((?:\s[a-z2-7]{10})*)(\sunited|\sboth(?:\s\d+-\d+)+)?\s+-->\r?\n?/;

/**
 * Whether a value begins as the personal text does. A copy that somebody keeps does so, too: alone
 * it says nothing about what a memory is.
 */
export function beginsAsPersonal(value: string): boolean {
  return PERSONAL_MARK.test(value);
}

/** A mark, but for one that is quoted as code, as a text that speaks of it does. */
const MARK = String.raw`(?<!\x60)<!--[\t\x20]*memsync:personal\b`;
const BEGIN = String.raw`${MARK}(?![\t\x20]+(?:version|end)\b)`;
const END = String.raw`${MARK}[\t\x20]+end\b[^\n]*`;
const REST = String.raw`(?![\s\S])`;

/**
 * What may stand between the marks: also where one of them is missing or was changed, for above a
 * lone end all may be of the personal text.
 */
export const PERSONAL_BLOCK = new RegExp(
  `(${BEGIN}[\\s\\S]*?(?:${END}|${REST})|(?<![\\s\\S])\\s*\\S(?:(?!${BEGIN})[\\s\\S])*?${END})`,
  "g",
);

/** A begin mark, the last before an end mark, and what stands up to there. */
const MARKED = new RegExp(`${BEGIN}(?:(?!${BEGIN})[\\s\\S])*?${END}`, "g");

/**
 * What surely is of the personal text: what stands between two marks. Of what stands above a lone
 * end, or below a lone begin, nobody knows whose it is.
 */
export function personalBlocksIn(text: string): readonly string[] {
  return text.match(MARKED) ?? [];
}
