/** Words are looked up by this many characters, so each has at least as many. */
const START_LENGTH = 3;

/** Tells whether a text contains any of many words, in any case, without a search for each. */
export class WordIndex {
  readonly #byStart = new Map<string, string[]>();

  constructor(words: readonly string[]) {
    for (const word of words) {
      const start = word.slice(0, START_LENGTH).toLowerCase();
      const known = this.#byStart.get(start);
      if (known) known.push(word.toLowerCase());
      else this.#byStart.set(start, [word.toLowerCase()]);
    }
  }

  isIn(text: string): boolean {
    const lower = text.toLowerCase();
    for (let at = 0; at + START_LENGTH <= lower.length; at++) {
      const words = this.#byStart.get(lower.slice(at, at + START_LENGTH));
      if (words?.some((word) => lower.startsWith(word, at))) return true;
    }
    return false;
  }
}
