import { headingsIn } from "../text/headings.ts";
import { isOfSide, type SideLine } from "./side-lines.ts";

/** The headings of three texts, by the index of their lines; each is one in a text of its own. */
export class SideHeadings {
  readonly #lines: readonly SideLine[];
  readonly #levels: ReadonlyMap<number, number>;

  constructor(lines: readonly SideLine[]) {
    const levels = new Map<number, number>();
    for (const by of TEXTS) {
      const own = [...lines.entries()].filter(([, line]) => isOfSide(line, by));
      for (const [nth, level] of headingsIn(own.map(([, { text }]) => text))) {
        levels.set(own[nth]?.[0] ?? -1, level);
      }
    }
    this.#lines = lines;
    this.#levels = levels;
  }

  /** How deep a heading is; undefined of a line that is none. */
  level(at: number): number | undefined {
    return this.#levels.get(at);
  }

  /**
   * Whether the sections that begin among lines [from, end) end before a line: it is a heading of
   * the same or a higher level. A heading that no text has together with theirs is only another
   * name of one of them, and ends nothing.
   */
  ends([from, end]: readonly [from: number, end: number], at: number): boolean {
    const next = this.level(at);
    if (next === undefined) return false;
    const own = [...this.#levels].filter(([each]) => from <= each && each < end);
    const beside = own.filter(([each]) => this.#areTogether(each, at));
    if (beside.length === 0) return own.length === 0;
    return next <= Math.min(...beside.map(([, level]) => level));
  }

  /** Whether a text has both lines. */
  #areTogether(one: number, other: number): boolean {
    const [first, second] = [this.#lines[one], this.#lines[other]];
    return TEXTS.some((by) => first && second && isOfSide(first, by) && isOfSide(second, by));
  }

  /** Which of the lines they are. */
  get all(): ReadonlySet<SideLine> {
    return new Set([...this.#levels.keys()].flatMap((at) => this.#lines[at] ?? []));
  }
}

const TEXTS = ["base", "mine", "theirs"] as const;
