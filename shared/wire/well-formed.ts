/// <reference lib="es2024.string" />

/** `text` with each lone surrogate replaced by U+FFFD, because UTF-8 can't represent it. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/** Said of a text that can't be stored as it is; follows its name. */
export const NOT_WELL_FORMED =
  "has half of a character (a lone surrogate, as of a cut emoji), which can't be saved as it is: " +
  "complete it or take it out";
