/// <reference lib="es2024.string" />

/** `text` with each lone surrogate replaced by U+FFFD; they would not survive UTF-8. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}
