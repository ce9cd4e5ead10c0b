import { HISTORY } from "../../shared/replica/history/revisions.ts";

/** A revision as a history that was never packed would list it. */
interface Past {
  readonly value: string;
  readonly writtenAt: number;
  readonly replacedAt: number;
}

/** What must be kept of some keys: a list of each, the latest first, within the two bounds. */
export class PastValues {
  readonly #current = new Map<string, { readonly value: string; readonly writtenAt: number }>();
  readonly #past = new Map<string, readonly Past[]>();

  /** A write, or without a value a deletion. */
  change(key: string, value: string | undefined, now: number): void {
    const before = this.#current.get(key);
    if (before?.value === value) return;
    if (before) {
      const past = [{ ...before, replacedAt: now }, ...this.of(key)];
      this.#past.set(key, past.slice(0, HISTORY.revisionsPerKey));
    }
    if (value === undefined) this.#current.delete(key);
    else this.#current.set(key, { value, writtenAt: now });
  }

  /** What a sweep at that time leaves. */
  sweep(now: number): void {
    for (const [key, past] of this.#past) this.#past.set(key, youngOf(past, now));
  }

  of(key: string): readonly Past[] {
    return this.#past.get(key) ?? [];
  }
}

/** What no sweep at that time may drop. */
export function youngOf<Each extends Past>(past: readonly Each[], now: number): readonly Each[] {
  return past.filter(({ replacedAt }) => now - replacedAt <= HISTORY.ageMs);
}
