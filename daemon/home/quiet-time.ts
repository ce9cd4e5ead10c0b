import type { Timer, World } from "../../shared/world.ts";

/** Nobody who is working leaves a machine alone for this long. */
const IDLE_MS = 60_000;

/** Something with caches that it can drop: a `ReplicaStore`. */
export interface Resting {
  whenIdle(onIdle: () => void): void;
  rest(): void;
}

/** What a quiet time works with. */
export interface QuietTimeOptions {
  readonly store: Resting;
  readonly world: Pick<World, "monotonic" | "setTimer">;
  /** Takes a few hundredths of a second. Undefined where the runtime does this only by itself. */
  readonly shrinkRuntime?: (() => void) | undefined;
}

/** Gives memory back a minute after the last write, once: an idle machine is not woken again. */
export class QuietTime {
  readonly #options: QuietTimeOptions;
  #timer: Timer | undefined;
  #busyAt = 0;
  #stopped = false;

  constructor(options: QuietTimeOptions) {
    this.#options = options;
    options.store.whenIdle(() => this.#busy());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #busy(): void {
    this.#busyAt = this.#options.world.monotonic();
    if (!this.#timer) this.#after(IDLE_MS);
  }

  #after(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = this.#options.world.setTimer(delayMs, () => this.#look());
  }

  #look(): void {
    const { store, world, shrinkRuntime } = this.#options;
    this.#timer = undefined;
    const leftMs = this.#busyAt + IDLE_MS - world.monotonic();
    if (leftMs > 0) {
      this.#after(leftMs);
      return;
    }
    store.rest();
    shrinkRuntime?.();
  }
}
