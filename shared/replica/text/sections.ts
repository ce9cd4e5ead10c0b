import { findCodeBlocks } from "./code-blocks.ts";
import { headingsIn } from "./headings.ts";
import { hasWord } from "./line-diff.ts";

/** Lines [from, to) of a text. */
type Stretch = readonly [from: number, to: number];

/** The lines of a text with the headings that they stand under. */
export class Sections {
  readonly lines: readonly string[];
  /**
   * For each line the next heading above it, "" if there is none; for a heading, the heading of its
   * parent section.
   */
  readonly over: readonly string[];
  readonly #places = new Map<string, number[]>();
  readonly #headings: ReadonlyMap<number, number>;
  readonly #blocks: readonly Stretch[];

  constructor(lines: readonly string[]) {
    this.lines = lines;
    this.#blocks = findCodeBlocks(lines);
    this.#headings = headingsIn(lines);
    const open: { readonly text: string; readonly level: number }[] = [];
    this.over = lines.map((text, at) => {
      if (hasWord(text)) this.#note(text, at);
      const level = this.#headings.get(at);
      if (level === undefined) return open.at(-1)?.text ?? "";
      while ((open.at(-1)?.level ?? 0) >= level) open.pop();
      const parent = open.at(-1)?.text ?? "";
      open.push({ text, level });
      return parent;
    });
  }

  #note(text: string, at: number): void {
    const known = this.#places.get(text);
    if (known) known.push(at);
    else this.#places.set(text, [at]);
  }

  /** Where a line with a word stands. */
  places(text: string): readonly number[] {
    return this.#places.get(text) ?? [];
  }

  /** The heading of the section that a line is of; a heading is of its own. */
  headingAt(at: number): string {
    return (this.#headings.has(at) ? this.lines[at] : this.over[at]) ?? "";
  }

  /** Whether there is such a heading, or with "" a place above the first one. */
  hasHeading(heading: string): boolean {
    return heading === "" || this.places(heading).some((at) => this.#headings.has(at));
  }

  /** How often a line stands under a heading. */
  count(text: string, heading: string): number {
    return this.places(text).filter((at) => this.over[at] === heading).length;
  }

  /** Whether no line before it under the same heading says the same. */
  isFirst(at: number): boolean {
    const there = this.places(this.lines[at] ?? "");
    return there.find((each) => this.over[each] === this.over[at]) === at;
  }

  /** The lines with a word in a line's section, above it and below it, nearest first. */
  beside(at: number): readonly [above: readonly number[], below: readonly number[]] {
    const [above, below]: [number[], number[]] = [[], []];
    if (this.#headings.has(at)) {
      const parent = this.lines.lastIndexOf(this.over[at] ?? "", at);
      return [parent === -1 ? [] : [parent], []];
    }
    for (let each = at - 1; each >= 0; each--) {
      if (hasWord(this.lines[each] ?? "")) above.push(each);
      if (this.#headings.has(each)) break;
    }
    for (let each = at + 1; each < this.lines.length && !this.#headings.has(each); each++) {
      if (hasWord(this.lines[each] ?? "")) below.push(each);
    }
    return [above, below];
  }

  /** The first line from here on that is not blank. */
  pastBlanks(from: number): number {
    let at = from;
    while (this.lines[at]?.trim() === "") at++;
    return at;
  }

  /** The range, extended by the rest of each code block of which it has every word. */
  withFences([first, end]: Stretch): Stretch {
    const isOfRun = (at: number) => (first <= at && at < end) || !hasWord(this.lines[at] ?? "");
    const own = this.#blocks.filter(([from, to]) => {
      return from < end && first < to && indices([from, to]).every(isOfRun);
    });
    return [
      Math.min(first, ...own.map(([from]) => from)),
      Math.max(end, ...own.map(([, to]) => to)),
    ];
  }
}

function indices([from, to]: Stretch): number[] {
  return Array.from({ length: to - from }, (_, nth) => from + nth);
}
