/** A word of a command that is printed to be typed, quoted for a shell where that is needed. */
export function shellWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
