import { isPassage, lettersOf } from "../home/text-line.ts";

/** A text by the letters and digits of its lines. */
export class LetteredText {
  readonly lines: readonly string[];
  /** Of each line; empty for one without letters. */
  readonly letters: readonly string[];
  readonly #known: ReadonlySet<string>;
  #joined: string | undefined;

  constructor(text: string) {
    this.lines = text.split("\n");
    this.letters = this.lines.map(lettersOf);
    this.#known = new Set(this.letters);
  }

  /** Whether a line is one of these, or a long one stands in their midst. */
  has(letters: string): boolean {
    if (this.#known.has(letters)) return true;
    return isPassage(letters) && this.#whole().includes(letters);
  }

  /** The numbers of the lines over which a passage goes, where it stands first; the first is 1. */
  linesWith(passage: string): number[] {
    const from = this.#whole().indexOf(passage);
    if (from === -1) return [];
    const to = from + passage.length;
    let start = 0;
    return this.letters.flatMap((each, at) => {
      const begins = start;
      start += each.length;
      return each !== "" && begins < to && start > from ? [at + 1] : [];
    });
  }

  #whole(): string {
    this.#joined ??= this.letters.join("");
    return this.#joined;
  }
}
