import { headingsIn } from "../text/headings.ts";
import { isOfSide, type SideLine } from "./side-lines.ts";

/** The headings of three texts, by the index of their lines; each is one in a text of its own. */
export class SideHeadings {
  readonly #levels: ReadonlyMap<number, number>;

  constructor(lines: readonly SideLine[]) {
    const levels = new Map<number, number>();
    for (const by of ["base", "mine", "theirs"] as const) {
      const own = [...lines.entries()].filter(([, line]) => isOfSide(line, by));
      for (const [nth, level] of headingsIn(own.map(([, { text }]) => text))) {
        levels.set(own[nth]?.[0] ?? -1, level);
      }
    }
    this.#levels = levels;
  }

  /** How deep a heading is; undefined of a line that is none. */
  level(at: number): number | undefined {
    return this.#levels.get(at);
  }

  /** The level of the outermost heading among lines [from, to). */
  outermost(from: number, to: number): number | undefined {
    const within = [...this.#levels].filter(([at]) => from <= at && at < to);
    return within.length > 0 ? Math.min(...within.map(([, level]) => level)) : undefined;
  }

  /** Whether a section of this level ends before a line. */
  ends(level: number | undefined, at: number): boolean {
    const next = this.level(at);
    return next !== undefined && (level === undefined || next <= level);
  }

  /** Which of the lines they are. */
  of(lines: readonly SideLine[]): ReadonlySet<SideLine> {
    return new Set([...this.#levels.keys()].flatMap((at) => lines[at] ?? []));
  }
}
