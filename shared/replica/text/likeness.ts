/**
 * How alike two lines are, from 0 to 1: 0 where one is not the other with some words mended, or
 * more of them. Neither a mark of a list, nor an indentation, nor a full stop is a word.
 */
export function likeness(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return 0;
  if (one.join(" ") === other.join(" ")) return 1;
  const left = [...other];
  for (const word of one) {
    const at = left.indexOf(word);
    if (at !== -1) left.splice(at, 1);
  }
  const common = other.length - left.length;
  const [fewer, more] = [Math.min(one.length, other.length), Math.max(one.length, other.length)];
  // One word in common among many is chance.
  const isMended = common * 2 >= fewer && (common >= 2 || (common === 1 && more <= 2));
  return isMended ? common / more : 0;
}

/** The words of a line, as `likeness` compares them. */
export function comparedWords(line: string): string[] {
  return line.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Lines among which those are found that another one may have been made of. */
export class LinesByWord<Line extends { readonly text: string }> {
  readonly #words: ReadonlyMap<Line, readonly string[]>;
  readonly #having = new Map<string, Line[]>();

  constructor(lines: readonly Line[]) {
    this.#words = new Map(lines.map((line) => [line, comparedWords(line.text)]));
    for (const [line, words] of this.#words) {
      for (const word of new Set(words)) {
        const known = this.#having.get(word);
        if (known) known.push(line);
        else this.#having.set(word, [line]);
      }
    }
  }

  /** Those to which a line is most alike; none where it is alike to none. */
  mostAlike(text: string): readonly Line[] {
    const words = comparedWords(text);
    const beside = new Set(words.flatMap((word) => this.#having.get(word) ?? []));
    let [found, most]: [Line[], number] = [[], 0];
    for (const line of beside) {
      const each = likeness(words, this.#words.get(line) ?? []);
      if (each > most) [found, most] = [[line], each];
      else if (each === most && each > 0) found.push(line);
    }
    return found;
  }
}
