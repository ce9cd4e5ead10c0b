import { type Minute, SecondCounts, SlidingLog } from "./minute.ts";
import { DAY_SECONDS, type PlanLimits } from "./plans.ts";

const DAY_MS = DAY_SECONDS * 1000;

/** A moment by two clocks, in milliseconds. */
export interface Moment {
  /** Since the Unix epoch; may have jumped in either direction. */
  readonly wall: number;
  /** Runs like the wall clock, but never goes back. */
  readonly steady: number;
}

/** What is stored of an account's requests. */
export interface UsageRecord {
  /** Steady times of the requests of the last 60 seconds, oldest first. */
  readonly minute: readonly number[];
  /** Days since the Unix epoch. */
  readonly day: number;
  /** Requests of that day. */
  readonly inDay: number;
}

/** One of the two windows that requests are counted in. */
export interface UsedWindow {
  /** Null where nothing is limited. */
  readonly limit: number | null;
  readonly used: number;
  /** Milliseconds until there is more quota; 0 when none is in use. */
  readonly freesInMs: number;
}

/** Both windows of an account. */
export interface Windows {
  readonly minute: UsedWindow;
  readonly day: UsedWindow;
}

/**
 * The requests of one account, with or without limits: no 60 seconds ever have more than the
 * minute's limit, and no UTC day more than the day's.
 *
 * 1. Both windows are checked before either is charged. A refused request is charged to neither,
 *    also if it is refused only after it was charged (`refund`).
 * 2. Setting the clock back frees nothing: the minute goes by the steady clock, and a day that was
 *    begun stays the day. If it began more than a day too early it becomes today, with its count,
 *    so that a clock that was wrong once locks nobody out.
 *
 * ```
 * const usage = new Usage({ minute: 60, day: 10_000 }, undefined, now);
 * usage.charge(now); // undefined: it is charged
 * ```
 */
export class Usage {
  #limits: PlanLimits | undefined;
  #minute: Minute;
  #day: number;
  #inDay: number;

  constructor(limits: PlanLimits | undefined, known: UsageRecord | undefined, now: Moment) {
    this.#limits = limits;
    this.#minute = minuteOf(limits, notAfter(known?.minute ?? [], now.steady));
    this.#day = known?.day ?? dayOf(now.wall);
    this.#inDay = known?.inDay ?? 0;
  }

  /** Undefined where nothing is limited. */
  get limits(): PlanLimits | undefined {
    return this.#limits;
  }

  /** The account has another plan from now on. What it used stays used. */
  limitTo(limits: PlanLimits | undefined): void {
    if (limits === this.#limits) return;
    this.#limits = limits;
    this.#minute = minuteOf(limits, this.#minute.times());
  }

  /** Milliseconds to wait until a request can be charged; undefined if it can be now. */
  exhausted(now: Moment): number | undefined {
    const { minute, day } = this.windows(now);
    const waitMs = Math.max(waitOf(minute), waitOf(day));
    return waitMs > 0 ? waitMs : undefined;
  }

  /** Milliseconds to wait for a refused request; undefined if it was charged. */
  charge(now: Moment): number | undefined {
    const waitMs = this.exhausted(now);
    if (waitMs !== undefined) return waitMs;
    this.#minute.add(now.steady);
    this.#inDay += 1;
    return undefined;
  }

  /** What was charged at `then` was refused after all. */
  refund(then: Moment): void {
    this.#minute.remove(then.steady);
    // Another day's count does not have it.
    if (dayOf(then.wall) === this.#day) this.#inDay = Math.max(0, this.#inDay - 1);
  }

  windows(now: Moment): Windows {
    this.#turnDay(dayOf(now.wall));
    const limits = this.#limits;
    return {
      minute: {
        limit: limits?.minute ?? null,
        used: this.#minute.used(now.steady),
        freesInMs: this.#minute.freesInMs(now.steady),
      },
      day: {
        limit: limits?.day ?? null,
        used: this.#inDay,
        freesInMs: (this.#day + 1) * DAY_MS - now.wall,
      },
    };
  }

  /** Counts requests until at most `left` are left of a window. Does nothing without limits. */
  leave(window: keyof Windows, left: number, now: Moment): void {
    const used = this.windows(now)[window].used;
    const missing = (this.#limits?.[window] ?? 0) - left - used;
    if (window === "day") this.#inDay += Math.max(0, missing);
    else for (let at = 0; at < missing; at++) this.#minute.add(now.steady);
  }

  /** None was made. */
  forget(now: Moment): void {
    this.#minute = minuteOf(this.#limits, []);
    this.#day = dayOf(now.wall);
    this.#inDay = 0;
  }

  record(): UsageRecord {
    return { minute: this.#minute.times(), day: this.#day, inDay: this.#inDay };
  }

  #turnDay(today: number): void {
    if (today > this.#day) this.#inDay = 0;
    if (today > this.#day || today < this.#day - 1) this.#day = today;
  }
}

function minuteOf(limits: PlanLimits | undefined, times: readonly number[]): Minute {
  return limits ? new SlidingLog(limits.minute, times) : new SecondCounts();
}

/** The UTC day of a wall clock's time, in days since the Unix epoch. */
export function dayOf(wall: number): number {
  return Math.floor(wall / DAY_MS);
}

function waitOf({ limit, used, freesInMs }: UsedWindow): number {
  return limit !== null && used >= limit ? freesInMs : 0;
}

/** Times from a clock that was ahead of this one count as if no time had passed since the last. */
function notAfter(times: readonly number[], now: number): readonly number[] {
  const ahead = (times.at(-1) ?? now) - now;
  return ahead <= 0 ? times : times.map((time) => time - ahead);
}
