import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PLANTED } from "../../support/planted-secrets.ts";
import type { Dice } from "./dice.ts";

const PARAGRAPH_LINES_MAX = 4;
/** In the repository, so that a seed says the same everywhere. */
const SAMPLE = join(import.meta.dir, "sample.md");

const lines: readonly string[] = readFileSync(SAMPLE, "utf8")
  .split("\n")
  .filter((line) => line.trim() !== "");

/** What people write into files. */
export class Phrases {
  /** What may be in a file, and in no document. */
  readonly secret = PLANTED.github;
  readonly #dice: Dice;
  #count = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** A line that nobody else writes, so that its loss can't be hidden by an equal one. */
  own(author: string): string {
    const line = this.#dice.pick(lines).replace(/^(```|~~~).*/, "in a block");
    return `${line} (${author} ${++this.#count})`;
  }

  /** A few lines on end, as they are in the sample: others may write the same. */
  paragraph(): string[] {
    const first = this.#dice.below(lines.length);
    return lines.slice(first, first + 1 + this.#dice.below(PARAGRAPH_LINES_MAX));
  }
}
