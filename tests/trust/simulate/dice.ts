import { pick, seededRandom } from "../../support/random.ts";

const BYTE = 256;
const SEEDS = 2 ** 32;

/** Everything that is left to chance in a run, from one seed. */
export class Dice {
  readonly fraction: () => number;

  constructor(seed: number) {
    this.fraction = seededRandom(seed);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return Math.floor(this.fraction() * count);
  }

  /** A number in [from, to). */
  between(from: number, to: number): number {
    return from + this.fraction() * (to - from);
  }

  pick<Item>(items: readonly Item[]): Item {
    return pick(this.fraction, items);
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(BYTE));
  }

  /** Dice of their own, so that what one part draws does not move what another draws. */
  fork(): Dice {
    return new Dice(this.below(SEEDS));
  }
}
