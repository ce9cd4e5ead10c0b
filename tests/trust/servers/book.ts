/** What was asked for, and what became of it as far as its client knows. */
export class Book {
  /** Answered as saved, and in a database that was not given up since. */
  readonly #saved = new Set<string>();
  /** Answered as saved, and in nothing but a database that was given up. */
  readonly #maybe = new Set<string>();
  readonly #refused = new Set<string>();

  saved(key: string): void {
    this.#saved.add(key);
    this.#maybe.delete(key);
  }

  /** Nobody knows, or those who knew have lost it. */
  unknown(key: string): void {
    this.#maybe.add(key);
  }

  /** It was answered that nothing is saved. */
  refused(key: string): void {
    this.#refused.add(key);
  }

  /** The database that goes on has only these of what was saved. */
  lostBut(kept: ReadonlyMap<string, string>): void {
    for (const key of this.#saved) {
      if (kept.has(key)) continue;
      this.#saved.delete(key);
      this.#maybe.add(key);
    }
  }

  /** What is wrong with a database that has these. */
  problems(found: ReadonlyMap<string, string>): string[] {
    const lost = [...this.#saved].filter((key) => !found.has(key));
    const made = [...found.keys()].filter((key) => {
      return this.#refused.has(key) || !(this.#saved.has(key) || this.#maybe.has(key));
    });
    return [
      ...lost.map((key) => `${key} was saved, and is not there`),
      ...made.map((key) => `${key} is there, and was not saved`),
    ];
  }
}
