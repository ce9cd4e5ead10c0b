// Node 20 has no modifiers in a pattern, `(?i:…)` and `(?-i:…)`. It is to find secrets, too.

/** A pattern that finds the same without modifiers, and whether it ignores case as a whole. */
export function withoutModifiers(
  pattern: string,
  ignoresCase: boolean,
): { readonly pattern: string; readonly ignoresCase: boolean } {
  if (!/\(\?-?i:/.test(pattern)) return { pattern, ignoresCase };
  return { pattern: new Unfolded(pattern).read(ignoresCase), ignoresCase: false };
}

/** Writes both cases of each letter whose case is ignored. */
class Unfolded {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** Up to the end of the group, or of the pattern. */
  read(ignoresCase: boolean): string {
    let written = "";
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ")") {
      written += this.#part(ignoresCase);
    }
    return written;
  }

  #part(ignoresCase: boolean): string {
    const opened = this.#take(/\((?:\?(?:-?i:|<\w+>|<?[=!:]|:))?/y);
    if (opened !== "") {
      const inside = opened.endsWith("i:") ? opened === "(?i:" : ignoresCase;
      const content = this.read(inside);
      return `${opened.endsWith("i:") ? "(?:" : opened}${content}${this.#take(/\)/y)}`;
    }
    const listed = this.#take(/\[(?:\\.|[^\]\\])*\]/sy);
    if (listed !== "") return ignoresCase ? unfoldedClass(listed) : listed;
    const one = this.#take(/\\x[\da-fA-F]{2}|\\.|\{[\d,]+\}|./sy);
    const letter = one.startsWith("\\x") ? String.fromCharCode(Number(`0${one.slice(1)}`)) : one;
    if (!ignoresCase || !/^[a-zA-Z]$/.test(letter)) return one;
    return `[${letter.toLowerCase()}${letter.toUpperCase()}]`;
  }

  #take(form: RegExp): string {
    form.lastIndex = this.#at;
    const found = form.exec(this.#pattern)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

/** A class of characters with the other case of each of its letters. */
function unfoldedClass(listed: string): string {
  const [, opening = "[", inside = ""] = /^(\[\^?)(.*)\]$/s.exec(listed) ?? [];
  const has = new RegExp(`^[${inside}]$`);
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(0x61 + at));
  const lower = letters.filter((letter) => has.test(letter.toUpperCase()) && !has.test(letter));
  const upper = letters.filter((letter) => has.test(letter) && !has.test(letter.toUpperCase()));
  const added = rangesOf(lower) + rangesOf(upper.map((letter) => letter.toUpperCase()));
  return `${opening}${added}${inside.replace(/^-/, "\\-")}]`;
}

function rangesOf(letters: readonly string[]): string {
  const runs: string[] = [];
  for (const letter of letters) {
    const last = runs.at(-1);
    const isNext = last && last.charCodeAt(last.length - 1) + 1 === letter.charCodeAt(0);
    if (isNext) runs[runs.length - 1] = last + letter;
    else runs.push(letter);
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]}-${run.at(-1)}` : run)).join("");
}
