/** Whoever said that another folder follows may have been killed since. */
const ENDED_MS_MAX = 10_000;

/** Folders that are just being linked, and those that were said to follow. */
export class LinksUnderWay {
  #count = 0;
  /** Said of the link that was begun last. */
  #isMoreToCome = false;
  #endedAt = 0;

  begin(isMoreToCome: boolean): void {
    this.#count += 1;
    this.#isMoreToCome = isMoreToCome;
  }

  /** `now`: monotonic milliseconds. */
  end(now: number): void {
    this.#count -= 1;
    this.#endedAt = now;
  }

  /** Whether folders are being linked, or more are about to be. */
  isAny(now: number): boolean {
    return this.#count > 0 || (this.#isMoreToCome && now - this.#endedAt < ENDED_MS_MAX);
  }
}
