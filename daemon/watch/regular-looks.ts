import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Timer, World } from "../../shared/world.ts";

/** What is looked at, and how often. */
export interface RegularLooksOptions {
  readonly world: World;
  readonly log: Log;
  readonly look: () => Promise<void>;
  /** Asked after each look: how long after it the next one begins. */
  readonly restMs: () => number;
  /** What the log says, with the reason, when a look fails. */
  readonly failed: string;
}

/**
 * Looks at something regularly, and at once when somebody asks for it. There is one look at a time:
 * whoever asks during a look gets another one after it.
 *
 * ```
 * const failed = "the folder was not looked at";
 * const looks = new RegularLooks({ world, log, look, restMs: () => 5000, failed });
 * await looks.look();
 * await looks.stop();
 * ```
 */
export class RegularLooks {
  readonly #options: RegularLooksOptions;
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();
  /** A look that has not begun yet. */
  #next: Promise<void> | undefined;
  #stopped = false;

  constructor(options: RegularLooksOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Resolves when a look that began after this call is over. Never rejects. */
  look(): Promise<void> {
    this.#next ??= this.#looking.then(() => this.#lookAndRest());
    this.#looking = this.#next;
    return this.#next;
  }

  async #lookAndRest(): Promise<void> {
    const { world, log, look, restMs, failed } = this.#options;
    this.#next = undefined;
    this.#timer?.cancel();
    if (this.#stopped) return;
    try {
      await look();
    } catch (thrown) {
      log.warn({ reason: messageOf(thrown) }, failed);
    }
    if (!this.#stopped) this.#timer = world.setTimer(restMs(), () => void this.look());
  }

  /** Resolves when the look under way is over; none begins any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#looking;
  }
}
