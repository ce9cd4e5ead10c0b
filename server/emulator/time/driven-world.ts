import type { World } from "../../../shared/world.ts";
import { DrivenClock } from "./driven-clock.ts";
import { createSeededBytes } from "./seeded-bytes.ts";

/** How an emulator's time and chance begin. */
export interface DrivenWorldOptions {
  /** The clock stands still at this time; it runs when left out. */
  readonly frozenAt?: number | undefined;
  /** What is drawn repeats for it; real randomness when left out. */
  readonly seed?: string | undefined;
  /** Whether epochs repeat as well, which they must not where data outlives the process. */
  readonly isKept: boolean;
}

/** One clock, and chance in streams: one purpose draws nothing that changes another's. */
export interface DrivenWorlds {
  readonly clock: DrivenClock;
  /** For what is stored: ids of projects and keys of memories. */
  readonly data: World;
  /** For the ids of requests. */
  readonly requests: World;
  /** For those of control calls: whoever looks on changes no id of what is looked at. */
  readonly controls: World;
  /** For epochs, which never repeat while the process lives. */
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

export function createDrivenWorlds(base: World, options: DrivenWorldOptions): DrivenWorlds {
  const { frozenAt, seed, isKept } = options;
  const clock = new DrivenClock(base, frozenAt);
  const names = ["data", "requests", "controls", "faults", "tags"];
  const streams = names.map((name) => createSeededBytes(base, name, seed));
  // Where data outlives the process, so does that of an account whose name would be drawn again.
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
