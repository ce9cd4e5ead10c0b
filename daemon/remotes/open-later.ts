import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Timer, World } from "../../shared/world.ts";

/** How long what could not be opened is left alone: each time twice as long, up to `maxMs`. */
export interface LaterDelays {
  readonly minMs: number;
  readonly maxMs: number;
}

/** What it works with. */
interface OpenLaterOptions {
  readonly world: World;
  readonly log: Log;
}

/** Names of what could not be opened, and the time at which all of them are tried again. */
export class OpenLater {
  readonly #options: OpenLaterOptions;
  readonly #delays: LaterDelays;
  readonly #open: (names: readonly string[]) => Promise<void>;
  readonly #names = new Set<string>();
  #timer: Timer | undefined;
  #failures = 0;
  #ended = false;

  constructor(
    options: OpenLaterOptions,
    delays: LaterDelays,
    open: (names: readonly string[]) => Promise<void>,
  ) {
    this.#options = options;
    this.#delays = delays;
    this.#open = open;
  }

  /** Nothing is tried after `end`. */
  add(name: string): void {
    if (this.#ended) return;
    this.#names.add(name);
    if (this.#timer) return;
    const { minMs, maxMs } = this.#delays;
    const delayMs = Math.min(minMs * 2 ** this.#failures, maxMs);
    this.#failures++;
    this.#timer = this.#options.world.setTimer(delayMs, () => void this.openNow());
  }

  /** It is just being opened, or is not there any more. */
  forget(name: string): void {
    this.#names.delete(name);
  }

  /** Tries all of them, and does not wait for their time. Nothing is tried where there are none. */
  async openNow(): Promise<void> {
    this.#cancelTimer();
    const names = [...this.#names];
    this.#names.clear();
    if (names.length === 0) return;
    try {
      await this.#open(names);
    } catch (thrown) {
      this.#options.log.error({ reason: messageOf(thrown) }, "a remote could not be opened");
      for (const name of names) this.add(name);
    }
    if (this.#names.size === 0) this.#failures = 0;
  }

  end(): void {
    this.#ended = true;
    this.#names.clear();
    this.#cancelTimer();
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
