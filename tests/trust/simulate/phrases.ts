import { fileHistories } from "../../support/real-data.ts";
import type { Dice } from "./dice.ts";

const LINE_LENGTH_MAX = 120;
const PARAGRAPH_LINES_MAX = 4;

let lines: readonly string[] | undefined;

/** Lines of instruction files. */
function realLines(): readonly string[] {
  if (lines) return lines;
  const found = fileHistories().flatMap(({ versions }) => (versions.at(-1) ?? "").split("\n"));
  lines = found.filter((line) => line.trim() !== "" && line.length <= LINE_LENGTH_MAX);
  return lines;
}

/** What people write into files. */
export class Phrases {
  readonly #dice: Dice;
  #count = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

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
