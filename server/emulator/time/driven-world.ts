import type { World } from "../../../shared/world.ts";
import { DrivenClock } from "./driven-clock.ts";
import { createSeededBytes } from "./seeded-bytes.ts";

/** How an emulator's time and chance begin. */
export interface DrivenWorldOptions {
  /** The clock stands still at this time; it runs when left out. */
  readonly frozenAt?: number | undefined;
  /** Draws repeat for the same seed; real randomness when left out. */
  readonly seed?: string | undefined;
  /**
   * Whether data outlives the process. Then epochs and tokens are always random: a repeated one
   * could meet what is stored.
   */
  readonly isKept: boolean;
}

/**
 * One clock, and one stream of randomness for each purpose, so that no purpose changes what another
 * draws.
 */
export interface DrivenWorlds {
  readonly clock: DrivenClock;
  /** For what is stored: ids of projects and keys of memories. */
  readonly data: World;
  /** For the ids of requests. */
  readonly requests: World;
  /**
   * For the ids of control calls, so that watching an emulator changes no id of what is watched.
   */
  readonly controls: World;
  /** For epochs, which never repeat within a process. */
  readonly writers: World;
  /** For tokens, and names of their accounts. */
  readonly tokens: World;
  /** For the epochs of entity tags. */
  readonly tags: World;
  /** For misbehaviour by chance. */
  readonly faults: World;
  /** Begins the ids of data and requests, and chance, with another seed. */
  seed(seed: string | undefined): void;
  /** Begins them again with the same seed; says whether there is one. */
  rewind(): boolean;
}

/** Worlds that share one driven clock, each with a stream of its own. */
export function createDrivenWorlds(base: World, options: DrivenWorldOptions): DrivenWorlds {
  const { frozenAt, seed, isKept } = options;
  const clock = new DrivenClock(base, frozenAt);
  const names = ["data", "requests", "controls", "faults", "tags"];
  const streams = names.map((name) => createSeededBytes(base, name, seed));
  // Where data outlives the process, an account outlives it, too: a name that is drawn again would
  // get its data.
  const tokens = createSeededBytes(base, "tokens", isKept ? undefined : seed);
  const [data, requests, controls, faults, tags] = streams;
  let isSeeded = seed !== undefined;
  const writers = createSeededBytes(base, "writers", isKept ? undefined : seed);
  const { now, monotonic, setTimer, defer } = clock;
  const drawing = (bytes: typeof writers | undefined): World => {
    return { now, monotonic, setTimer, defer, randomBytes: (bytes ?? writers).next };
  };
  return {
    clock,
    data: drawing(data),
    requests: drawing(requests),
    controls: drawing(controls),
    writers: drawing(writers),
    faults: drawing(faults),
    tags: drawing(tags),
    tokens: drawing(tokens),
    seed(next) {
      isSeeded = next !== undefined;
      for (const stream of streams) stream.seed(next);
      if (!isKept) tokens.seed(next);
    },
    rewind() {
      for (const stream of [...streams, tokens]) stream.rewind();
      return isSeeded;
    },
  };
}
