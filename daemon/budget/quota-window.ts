import type { ToldQuota } from "./quota-headers.ts";

const MINUTE_MS = 60_000;
/** Longer windows are paced; shorter ones are only kept from running out. */
const SHORT_MS_MAX = 10 * MINUTE_MS;
/** What is left of a long window is spread over at most this time: a working day. */
const SPREAD_MS_MAX = 8 * 60 * MINUTE_MS;
/** Other machines are assumed to go on at the last observed pace for this long. */
const OTHERS_MS_MAX = 10_000;
/** The part of each quota that is reserved for requests that a person waits for. */
const RESERVED = 0.1;

/** A quota as an answer told it, with what was used since. All times are by one clock. */
export interface QuotaWindow {
  readonly quota: ToldQuota;
  readonly toldAt: number;
  /** Own requests since then. */
  readonly sent: number;
  /** Requests a millisecond that the account's other machines were last seen to make. */
  readonly othersPerMs: number;
}

/** A long window is paced: what is left is spread over the time until it is renewed. */
export function isLong({ quota }: QuotaWindow): boolean {
  return (quota.windowMs ?? quota.moreInMs ?? 0) > SHORT_MS_MAX;
}

/** When the window is renewed. */
export function moreAt({ quota, toldAt }: QuotaWindow): number {
  return toldAt + (quota.moreInMs ?? quota.windowMs ?? MINUTE_MS);
}

/**
 * The window ended, and the service never said how large a new one is: nothing is known of it now.
 */
export function isSpent(window: QuotaWindow, now: number): boolean {
  return window.quota.limit === undefined && now >= moreAt(window);
}

/** How many requests are left, as far as this machine can know. */
export function remainingAt(window: QuotaWindow, now: number, ownTimes: readonly number[]): number {
  const { quota, toldAt, sent, othersPerMs } = window;
  const { limit = quota.remaining, remaining } = quota;
  if (isLong(window)) return now >= moreAt(window) ? limit : Math.max(0, remaining - sent);
  const lengthMs = quota.windowMs ?? MINUTE_MS;
  const age = now - toldAt;
  if (age >= lengthMs) return limit;
  const others = othersPerMs * Math.min(age, OTHERS_MS_MAX);
  const isOver = (time: number) => time > toldAt - lengthMs && time <= now - lengthMs;
  const over = ownTimes.filter(isOver).length;
  return Math.max(0, Math.min(limit, remaining - sent - others + over));
}

/** When all of a window is left again, whatever was used before it was told. */
export function renewedAt(window: QuotaWindow): number {
  return isLong(window) ? moreAt(window) : window.toldAt + (window.quota.windowMs ?? MINUTE_MS);
}

/**
 * The first time at which this machine knows of so many requests that are left: own ones are over
 * then, or all are. Not before `now`.
 */
export function knownLeftAt(
  window: QuotaWindow,
  count: number,
  { now, ownTimes }: { readonly now: number; readonly ownTimes: readonly number[] },
): number {
  const lengthMs = window.quota.windowMs ?? MINUTE_MS;
  const ends = isLong(window) ? [] : ownTimes.map((time) => time + lengthMs);
  const times = [now, ...ends.filter((end) => end > now).sort((one, other) => one - other)];
  const isEnough = (time: number) => remainingAt(window, time, ownTimes) >= count;
  return Math.min(times.find(isEnough) ?? Number.POSITIVE_INFINITY, renewedAt(window));
}

/**
 * What is left as far as this machine knows, for a screen, and when there is more. Once the time
 * is over at which the service said that there would be more, there is at least one more.
 */
export function shownAt(
  window: QuotaWindow,
  now: number,
  ownTimes: readonly number[],
): { readonly remaining: number; readonly moreAt: number } {
  const remaining = Math.floor(remainingAt(window, now, ownTimes));
  const at = moreAt(window);
  if (isLong(window) || now < at) return { remaining, moreAt: Math.max(now, at) };
  const { quota, toldAt, sent } = window;
  const lengthMs = quota.windowMs ?? MINUTE_MS;
  const ends = [toldAt, ...ownTimes].map((time) => time + lengthMs).filter((end) => end > now);
  const promised = Math.floor(quota.remaining) + 1 - sent;
  const most = quota.limit ?? quota.remaining;
  return {
    remaining: Math.max(remaining, Math.min(most, promised)),
    moreAt: ends.length > 0 ? Math.min(...ends) : now,
  };
}

/** Requests a millisecond that a long window allows the whole account, people's requests aside. */
export function pacePerMs(window: QuotaWindow, now: number): number {
  return (remainingAt(window, now, []) * (1 - RESERVED)) / spreadMsOf(window, now);
}

/** The time over which the rest of a long window is spread, in milliseconds. */
export function spreadMsOf(window: QuotaWindow, now: number): number {
  const resetAt = moreAt(window);
  return now >= resetAt ? SPREAD_MS_MAX : Math.min(SPREAD_MS_MAX, Math.max(1000, resetAt - now));
}

/** The pace where there is no long window: all of the short one, without its reserve. */
export function shortPacePerMs({ quota }: QuotaWindow): number {
  return (
    ((quota.limit ?? quota.remaining) * (1 - RESERVED)) / Math.max(1, quota.windowMs ?? MINUTE_MS)
  );
}

/** How many requests of a short window are reserved for people. */
export function reserveOf({ quota }: QuotaWindow): number {
  return Math.ceil((quota.limit ?? 0) * RESERVED);
}
