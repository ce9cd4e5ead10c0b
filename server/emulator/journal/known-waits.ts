import type { World } from "../../../shared/world.ts";
import type { RequestEntry } from "./journal.ts";
import { knew } from "./known-ends.ts";

/** At most this many waits are remembered; a client that was told to wait comes back soon. */
const WAITS_MAX = 10_000;

interface Wait {
  readonly until: number;
  /** The same in real time, which goes on while the emulator's clock stands still. */
  readonly untilReally: number;
  /** By which it was told. */
  readonly answered: RequestEntry;
}

/** What is left of a wait. */
export interface LeftWait {
  readonly ms: number;
  /** By which it was told. */
  readonly earlier: RequestEntry;
}

/** The clocks by which a client may have waited. */
export interface WaitClocks {
  /** The emulator's. Setting it back makes no wait longer, for its steady clock stays. */
  readonly world: Pick<World, "now" | "monotonic">;
  readonly real: Pick<World, "monotonic">;
}

/** Until when clients were told to wait, by what they were to leave alone. */
export class KnownWaits {
  /** The oldest answer first. */
  readonly #waits = new Map<string, Wait[]>();
  #count = 0;

  constructor(readonly clocks: WaitClocks) {}

  add(key: string, answered: RequestEntry, waitMs: number): void {
    if (this.#count >= WAITS_MAX) this.forget(() => true);
    const waits = this.#take(key);
    waits.push({
      until: this.clocks.world.monotonic() + waitMs,
      untilReally: this.clocks.real.monotonic() + waitMs,
      answered,
    });
    this.#put(key, waits);
  }

  /**
   * How much longer the client of this request should have waited, by the newest answer that it
   * knew; undefined if it need not have. An answer is used for one request only.
   */
  leftFor(key: string, entry: RequestEntry): LeftWait | undefined {
    const waits = this.#take(key);
    const at = waits.findLastIndex(({ answered }) => knew(entry, answered));
    this.#put(key, waits.slice(at + 1));
    const wait = waits[at];
    // A client that waits by its own timer has done as it was told.
    if (!wait || wait.untilReally <= this.clocks.real.monotonic()) return undefined;
    const left = wait.until - this.clocks.world.monotonic();
    return left > 0 ? { ms: left, earlier: wait.answered } : undefined;
  }

  /** Those that were told by such an answer. */
  forget(isGone: (answered: RequestEntry) => boolean): void {
    for (const key of [...this.#waits.keys()]) {
      this.#put(
        key,
        this.#take(key).filter(({ answered }) => !isGone(answered)),
      );
    }
  }

  #take(key: string): Wait[] {
    const waits = this.#waits.get(key) ?? [];
    this.#count -= waits.length;
    this.#waits.delete(key);
    return waits;
  }

  #put(key: string, waits: Wait[]): void {
    if (waits.length === 0) return;
    this.#waits.set(key, waits);
    this.#count += waits.length;
  }
}
