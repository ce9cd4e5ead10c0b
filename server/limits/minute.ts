import { MINUTE_SECONDS } from "./plans.ts";

const SECOND_MS = 1000;
const MINUTE_MS = MINUTE_SECONDS * SECOND_MS;

/**
 * The requests of the last 60 seconds. Times are milliseconds of one clock that never goes back.
 */
export interface Minute {
  /** How many there were, `now` included. */
  used(now: number): number;
  /** Milliseconds until there are fewer; 0 if there were none. */
  freesInMs(now: number): number;
  add(now: number): void;
  /** One that was added at `time` was none. Does nothing if it is older than 60 seconds. */
  remove(time: number): void;
  /** Their times, oldest first; empty where these are not kept. */
  times(): number[];
}

/**
 * A sliding log: the times of requests in a ring of `limit` entries. `add` may be called only while
 * fewer than `limit` are in use.
 */
export class SlidingLog implements Minute {
  readonly #times: Float64Array;
  #first = 0;
  #size = 0;

  /** `times`, oldest first, are known already. The newest `limit` of them count. */
  constructor(limit: number, times: readonly number[]) {
    this.#times = new Float64Array(limit);
    for (const time of times.slice(-limit)) this.add(time);
  }

  used(now: number): number {
    while (this.#size > 0 && this.#at(0) <= now - MINUTE_MS) {
      this.#first = (this.#first + 1) % this.#times.length;
      this.#size -= 1;
    }
    return this.#size;
  }

  freesInMs(now: number): number {
    return this.used(now) === 0 ? 0 : this.#at(0) + MINUTE_MS - now;
  }

  add(now: number): void {
    this.#times[(this.#first + this.#size) % this.#times.length] = now;
    this.#size += 1;
  }

  remove(time: number): void {
    const times = this.times();
    const at = times.lastIndexOf(time);
    if (at < 0) return;
    this.#size = 0;
    for (const each of times.toSpliced(at, 1)) this.add(each);
  }

  times(): number[] {
    return Array.from({ length: this.#size }, (_, index) => this.#at(index));
  }

  #at(index: number): number {
    return this.#times[(this.#first + index) % this.#times.length] ?? 0;
  }
}

/**
 * A count for each of the last 60 seconds, for unlimited accounts, whose number of requests is
 * unbounded.
 */
export class SecondCounts implements Minute {
  readonly #counts = new Uint32Array(MINUTE_SECONDS);
  #newest = Number.NEGATIVE_INFINITY;

  used(now: number): number {
    this.#forget(now);
    return this.#counts.reduce((total, each) => total + each, 0);
  }

  /** By then all of them are older. */
  freesInMs(): number {
    return MINUTE_MS;
  }

  add(now: number): void {
    this.#forget(now);
    const slot = this.#newest % MINUTE_SECONDS;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
  }

  remove(time: number): void {
    const second = Math.floor(time / SECOND_MS);
    const slot = second % MINUTE_SECONDS;
    const isKept = second > this.#newest - MINUTE_SECONDS;
    if (isKept) this.#counts[slot] = Math.max(0, (this.#counts[slot] ?? 0) - 1);
  }

  times(): number[] {
    return [];
  }

  #forget(now: number): void {
    const second = Math.floor(now / SECOND_MS);
    const first = Math.max(this.#newest + 1, second - MINUTE_SECONDS + 1);
    for (let each = first; each <= second; each++) this.#counts[each % MINUTE_SECONDS] = 0;
    this.#newest = second;
  }
}
