import { messageOf } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { Timer, World } from "../../world.ts";

const SWEEP_INTERVAL_MS = 60 * 60 * 1000;

/** The first sweep waits until the work of a start is over. */
const FIRST_SWEEP_MS = 60 * 1000;

/** Anything that can be swept: a `ReplicaStore`. */
export interface Swept {
  sweep(): Promise<void>;
}

/**
 * Sweeps a store every hour, until `stop`. A failed sweep is logged and tried again an hour later.
 */
export class Sweeper {
  readonly #store: Swept;
  readonly #world: Pick<World, "setTimer">;
  readonly #log: Log;
  #timer: Timer | undefined;
  #stopped = false;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(store: Swept, world: Pick<World, "setTimer">, log: Log) {
    this.#store = store;
    this.#world = world;
    this.#log = log;
  }

  start(): void {
    this.#after(FIRST_SWEEP_MS);
  }

  /** Resolves when the sweep under way is over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#sweeping;
  }

  #after(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = this.#world.setTimer(delayMs, () => {
      this.#sweeping = this.#sweep();
    });
  }

  async #sweep(): Promise<void> {
    try {
      await this.#store.sweep();
    } catch (thrown) {
      this.#log.warn({ reason: messageOf(thrown) }, "old history was not swept out");
    }
    this.#after(SWEEP_INTERVAL_MS);
  }
}
