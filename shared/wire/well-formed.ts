/// <reference lib="es2024.string" />

/** `text` with each lone surrogate replaced by U+FFFD, because UTF-8 can't represent it. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}
