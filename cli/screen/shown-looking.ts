import { sayAside } from "./output.ts";
import { type Counts, shownWhile } from "./shown-while.ts";

/**
 * Shows how many of the linked folders a daemon of this process has looked at: with hundreds of
 * them, on a busy machine, its start takes long.
 *
 * ```
 * const looking = new ShownLooking();
 * await runDaemon(lock, { onBegin: (looked) => looking.began(looked), onUp: () => looking.end() });
 * ```
 */
export class ShownLooking {
  #looked: (() => Counts) | undefined;
  readonly #begun = Promise.withResolvers<void>();
  readonly #shown: Promise<void>;

  constructor() {
    this.#shown = this.during(this.#begun.promise);
  }

  /** Begins to show the counts that `looked` gives. */
  began(looked: () => Counts): void {
    this.#looked = looked;
  }

  /** The daemon is up. May be called several times. */
  async end(): Promise<void> {
    this.#begun.resolve();
    await this.#shown;
  }

  /** Resolves as `work` does, and shows the folders meanwhile. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    return await shownWhile("looking at", work, {
      unit: "folders",
      counts: () => this.#looked?.(),
      ...(!process.stderr.isTTY && { sayLate: async () => this.#say() }),
    });
  }

  #say(): void {
    const { done, total } = this.#looked?.() ?? { done: 0, total: 0 };
    if (done < total) sayAside(`looking at the folders: ${done} of ${total} so far`);
  }
}
