import type { Timer, World } from "../world.ts";

/** Two machines' clocks part by about a millisecond in this time. */
const READ_EVERY_MS = 30_000;

/** The database's wall clock, which is the same for all of its servers, however theirs are set. */
export class DatabaseClock {
  /** The given world, with this clock in place of its own. */
  readonly world: World;
  readonly #under: World;
  #aheadMs = 0;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(under: World) {
    this.#under = under;
    this.world = {
      now: () => Math.floor(under.monotonic() + this.#aheadMs),
      monotonic: () => under.monotonic(),
      setTimer: (delayMs, callback) => under.setTimer(delayMs, callback),
      defer: (callback) => under.defer(callback),
      randomBytes: (length) => under.randomBytes(length),
    };
  }

  /** Reads the clock by `read`, in milliseconds since the Unix epoch, again and again. */
  async start(read: () => Promise<number>): Promise<void> {
    await this.#read(read);
    this.#schedule(read);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #read(read: () => Promise<number>): Promise<void> {
    const sentAt = this.#under.monotonic();
    const now = await read();
    const gotAt = this.#under.monotonic();
    this.#aheadMs = now - (sentAt + gotAt) / 2;
  }

  #schedule(read: () => Promise<number>): void {
    if (this.#stopped) return;
    this.#timer = this.#under.setTimer(READ_EVERY_MS, () => {
      // Without an answer the clock goes on as it did.
      void this.#read(read)
        .catch(() => undefined)
        .then(() => this.#schedule(read));
    });
  }
}
