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
