const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;
/** Times of single requests are kept for this long. */
const TIMES_MS = 20 * MINUTE_MS;
const TIMES_MAX = 600;

/** This machine's requests of one UTC day, and how many calls of that day were made to ask. */
export interface DayRecord {
  readonly number: number;
  readonly sent: number;
  readonly asked: number;
}

/** Own requests as they are stored. */
export interface OwnRecord {
  readonly times: readonly number[];
  readonly day: DayRecord;
}

/** Counts this machine's own requests: the latest with their times, and those of the UTC day. */
export class OwnRequests {
  #times: number[];
  #day: DayRecord;

  constructor(known: OwnRecord | undefined, now: number) {
    this.#times = [...(known?.times ?? [])];
    this.#day = known?.day ?? { number: utcDayOf(now), sent: 0, asked: 0 };
  }

  /** When the latest requests were sent, the oldest first. */
  get times(): readonly number[] {
    return this.#times;
  }

  get today(): DayRecord {
    return this.#day;
  }

  /** The times of the last minute. */
  inMinute(now: number): readonly number[] {
    return this.#times.filter((time) => time > now - MINUTE_MS);
  }

  sent(now: number): void {
    this.#times.push(now);
    this.#day = { ...this.#day, sent: this.#day.sent + 1 };
  }

  /** The last request never reached the service. */
  unsent(): void {
    this.#times.pop();
    this.#day = { ...this.#day, sent: Math.max(0, this.#day.sent - 1) };
  }

  /** A call begins that only asks. */
  asked(): void {
    this.#day = { ...this.#day, asked: this.#day.asked + 1 };
  }

  pass(now: number): void {
    if (utcDayOf(now) !== this.#day.number)
      this.#day = { number: utcDayOf(now), sent: 0, asked: 0 };
    const tooOld = this.#times.filter((time) => time <= now - TIMES_MS).length;
    const tooMany = this.#times.length - TIMES_MAX;
    if (tooOld > 0 || tooMany > 0) this.#times.splice(0, Math.max(tooOld, tooMany));
  }

  /** What to store. `reserved` requests count as made now. */
  record(reserved: number, now: number): OwnRecord {
    return {
      times: [...this.#times, ...Array<number>(reserved).fill(now)],
      day: { ...this.#day, sent: this.#day.sent + reserved },
    };
  }
}

/** The number of a UTC day. */
export function utcDayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}
