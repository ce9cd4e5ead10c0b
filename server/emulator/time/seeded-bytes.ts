import { hash } from "node:crypto";
import type { World } from "../../../shared/world.ts";

/** Random bytes that repeat for a seed. */
export interface SeededBytes {
  /** As `World.randomBytes`. */
  readonly next: World["randomBytes"];
  /** Begins the same bytes again, or those of another seed. Undefined: real randomness. */
  seed(seed: string | undefined): void;
  /** Begins again; does nothing without a seed. */
  rewind(): void;
}

/** SHA-256 of a counter: `stream` keeps what is drawn for one purpose apart from all others. */
export function createSeededBytes(
  world: Pick<World, "randomBytes">,
  stream: string,
  seed: string | undefined,
): SeededBytes {
  let current = seed;
  let drawn = 0;
  return {
    next(length) {
      if (current === undefined) return world.randomBytes(length);
      const bytes = new Uint8Array(length);
      for (let at = 0; at < length; at += 32) {
        const block = hash("sha256", `${stream}\n${drawn++}\n${current}`, "buffer");
        bytes.set(block.subarray(0, length - at), at);
      }
      return bytes;
    },
    seed(next) {
      current = next;
      drawn = 0;
    },
    rewind() {
      drawn = 0;
    },
  };
}
