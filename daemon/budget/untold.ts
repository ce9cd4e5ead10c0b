// What this machine may use of an account whose service tells no limits.
//
// The published limits count, and own requests are all that is known of their use. So this machine
// takes itself for one of ten, and has a tenth of the account's day: its part. Nine tenths of what
// is left of the part are spread over the day, as one of its paces. What somebody did here goes
// ahead of the pace, within the published minute, until most of the part is used. A refusal is the
// only sign of others: it halves the part, and the next one lets the machine keep to its part of
// each minute, too. docs/design/sync.md says what that means for people.
import type { OwnRequests } from "./own-requests.ts";
import { DAY_MS, utcDayOf } from "./own-requests.ts";
import type { ToldQuota } from "./quota-headers.ts";
import { pacePerMs, type QuotaWindow } from "./quota-window.ts";

const MINUTE_MS = 60_000;

/** What the interface's specification allows an account, by its smaller plan. */
export const PUBLISHED_LIMITS = { minute: 60, day: 10_000 } as const;
/** The largest part: no answer shows how many machines there are. */
const PART_MAX = 0.1;
/**
 * So much of the part of a day may be used ahead of the pace. The difference is for edits alone:
 * many links in the morning leave something for what is written in the afternoon.
 */
const AHEAD = { edit: 0.9, change: 0.82 } as const;
/** Even with nothing left, a request goes once in this time. */
const PACE_MS_MAX = 5 * MINUTE_MS;

/** The published limits, with this machine's own requests counted. */
export function publishedWindows(own: OwnRequests, now: number): readonly QuotaWindow[] {
  const inMinute = own.inMinute(now);
  const [first = now] = inMinute;
  return [
    windowOf("minute", {
      limit: PUBLISHED_LIMITS.minute,
      used: inMinute.length,
      windowMs: MINUTE_MS,
      moreAt: first + MINUTE_MS,
      now,
    }),
    dayWindow({ limit: PUBLISHED_LIMITS.day, used: own.today.sent, now }),
  ];
}

/** The part of an account's limits that a machine takes, which reckons with this share of them. */
export function partOf(share: number): number {
  return Math.min(share, PART_MAX);
}

/** This machine's pace, in requests a millisecond. */
export function untoldPacePerMs(part: number, own: OwnRequests, now: number): number {
  const limit = part * PUBLISHED_LIMITS.day;
  const pace = pacePerMs(dayWindow({ limit, used: own.today.sent, now }), now);
  return Math.max(1 / PACE_MS_MAX, pace);
}

/** Whether a call that no person waits for may go ahead of the pace. */
export function mayGoAhead(
  urgency: "edit" | "change" | "retry" | "ask",
  part: number,
  own: OwnRequests,
): boolean {
  if (urgency === "retry" || urgency === "ask") return false;
  return own.today.sent < Math.round(AHEAD[urgency] * part * PUBLISHED_LIMITS.day);
}

/** How many requests of a minute a machine makes that keeps to its part. */
export function mostInMinute(part: number): number {
  return Math.max(1, Math.floor(part * PUBLISHED_LIMITS.minute));
}

/** When the part of a minute that this machine keeps to has room; `now` or earlier: it has. */
export function partOfMinuteAt(part: number, own: OwnRequests, now: number): number {
  if (part >= PART_MAX) return now;
  const before = own.inMinute(now).at(-mostInMinute(part));
  return before === undefined ? now : before + MINUTE_MS;
}

function dayWindow({
  limit,
  used,
  now,
}: {
  readonly limit: number;
  readonly used: number;
  readonly now: number;
}): QuotaWindow {
  const moreAt = (utcDayOf(now) + 1) * DAY_MS;
  return windowOf("day", { limit, used, windowMs: DAY_MS, moreAt, now });
}

function windowOf(
  name: string,
  {
    limit,
    used,
    windowMs,
    moreAt,
    now,
  }: {
    readonly limit: number;
    readonly used: number;
    readonly windowMs: number;
    readonly moreAt: number;
    readonly now: number;
  },
): QuotaWindow {
  const remaining = Math.max(0, limit - used);
  const quota: ToldQuota = { name, limit, windowMs, remaining, moreInMs: moreAt - now };
  return { quota, toldAt: now, sent: 0, othersPerMs: 0 };
}
