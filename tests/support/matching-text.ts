/** What has no upper bound is repeated so much beyond its lower one, at the most. */
const REPEATED_BEYOND = 20;

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const ESCAPED: Readonly<Record<string, string>> = {
  b: "",
  d: DIGITS,
  n: "\n",
  r: "\r",
  s: " ",
  S: LETTERS + DIGITS,
  t: "\t",
  w: LETTERS + LETTERS.toUpperCase() + DIGITS,
};

const QUANTIFIER = /\{(\d+)(?:(,)(\d*))?\}\??|[*+?]\??/y;
const GROUP = /\((?:\?(?:[-a-z]*:|<\w+>|<?[=!]))?/y;

type Maker = () => string;

/**
 * Makes texts that a pattern matches, at random. Knows what the rules for secrets are written in;
 * it passes over boundaries and what is looked at before and behind, so a text may have to stand
 * between spaces.
 */
export function matchingTexts(source: string, random: () => number): Maker {
  return new PatternReader(source, random).alternatives();
}

class PatternReader {
  readonly #source: string;
  readonly #random: () => number;
  #at = 0;

  constructor(source: string, random: () => number) {
    this.#source = source;
    this.#random = random;
  }

  /** Up to the end of the group, or of the pattern. */
  alternatives(): Maker {
    const found: Maker[][] = [[]];
    while (this.#at < this.#source.length && this.#next !== ")") {
      if (this.#next === "|") {
        found.push([]);
        this.#at++;
      } else {
        found.at(-1)?.push(this.#repeated());
      }
    }
    return () => found[this.#below(found.length)]?.map((part) => part()).join("") ?? "";
  }

  #repeated(): Maker {
    const part = this.#piece();
    const [all, least, comma, most] = this.#take(QUANTIFIER) ?? [];
    if (all === undefined) return part;
    const from = Number(least ?? (all.startsWith("+") ? 1 : 0));
    const open = from + REPEATED_BEYOND;
    const to = all.startsWith("?") ? 1 : least && !comma ? from : Number(most || open);
    return () => Array.from({ length: from + this.#below(to - from + 1) }, part).join("");
  }

  #piece(): Maker {
    const [group] = this.#take(GROUP) ?? [];
    if (group !== undefined) {
      const inside = this.alternatives();
      this.#at++;
      return /[=!]$/.test(group) ? () => "" : inside;
    }
    if (this.#next === "[") return this.#oneOf(this.#characterClass());
    if (this.#next === "\\") return this.#oneOf(this.#escaped());
    const character = this.#next;
    this.#at++;
    if (character === "^" || character === "$") return () => "";
    // A dot that stands for any character stands for itself among them.
    return () => character;
  }

  /** All characters that a class has, of a negated one some that it has not. */
  #characterClass(): string {
    this.#at++;
    const isNegated = this.#next === "^";
    if (isNegated) this.#at++;
    let characters = "";
    while (this.#next !== "]") {
      const one = this.#classCharacter();
      const isRange = one.length === 1 && this.#next === "-" && this.#source[this.#at + 1] !== "]";
      if (!isRange) {
        characters += one;
        continue;
      }
      this.#at++;
      const last = this.#classCharacter().charCodeAt(0);
      for (let code = one.charCodeAt(0); code <= last; code++) {
        characters += String.fromCharCode(code);
      }
    }
    this.#at++;
    if (!isNegated) return characters;
    return [...LETTERS, ...DIGITS].filter((each) => !characters.includes(each)).join("");
  }

  #classCharacter(): string {
    return this.#next === "\\" ? this.#escaped() : (this.#source[this.#at++] ?? "");
  }

  #escaped(): string {
    const character = this.#source[this.#at + 1] ?? "";
    this.#at += 2;
    if (character !== "x") return ESCAPED[character] ?? character;
    this.#at += 2;
    return String.fromCharCode(Number.parseInt(this.#source.slice(this.#at - 2, this.#at), 16));
  }

  get #next(): string {
    return this.#source[this.#at] ?? "";
  }

  #take(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#source);
    this.#at += found?.[0].length ?? 0;
    return found ?? undefined;
  }

  #oneOf(characters: string): Maker {
    return () => characters[this.#below(characters.length)] ?? "";
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}
