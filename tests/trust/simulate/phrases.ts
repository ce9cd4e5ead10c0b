import { PLANTED } from "../../support/planted-secrets.ts";
import { fileHistories } from "../../support/real-data.ts";
import type { Dice } from "./dice.ts";

const LINE_LENGTH_MAX = 120;
const PARAGRAPH_LINES_MAX = 4;
const FALLBACK = ["# Notes", "- one thing to know", "```sh", "npm test", "```", "Use tabs."];

let lines: readonly string[] | undefined;

/** Lines of real instruction files; a few made-up ones where those are not beside this checkout. */
function realLines(): readonly string[] {
  if (lines) return lines;
  const found = fileHistories().flatMap(({ versions }) => (versions.at(-1) ?? "").split("\n"));
  const usable = found.filter((line) => line.trim() !== "" && line.length <= LINE_LENGTH_MAX);
  lines = usable.length === 0 ? FALLBACK : usable;
  return lines;
}

/** What people write into files. */
export class Phrases {
  readonly #dice: Dice;
  #count = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** What may be in a file, and in no document. */
  readonly secret = PLANTED.github;

  /** A line that nobody else writes, so that its loss can't be hidden by an equal one. */
  own(author: string): string {
    const line = this.#dice.pick(realLines()).replace(/^(```|~~~).*/, "in a block");
    return `${line} (${author} ${++this.#count})`;
  }

  /** A few lines on end, as they are in the files: others may write the same. */
  paragraph(): string[] {
    const all = realLines();
    const first = this.#dice.below(all.length);
    return all.slice(first, first + 1 + this.#dice.below(PARAGRAPH_LINES_MAX));
  }
}
