// What is known of an account's limits, and what follows for each request.
//
//   published ──quotas told──▶ told ──unlimited──▶ none ──quotas told──▶ told
//       └─unlimited─▶ none
//
// The tables of these changes, and of what a request waits for, are in docs/design/sync.md; a test
// compares this file with them.
import type { Reason } from "../../shared/reasons.ts";
import { DAY_MS, type DayRecord, OwnRequests, utcDayOf } from "./own-requests.ts";
import type { ToldQuota } from "./quota-headers.ts";
import {
  isLong,
  isSpent,
  knownLeftAt,
  moreAt,
  pacePerMs,
  type QuotaWindow,
  remainingAt,
  renewedAt,
  reserveOf,
  shortPacePerMs,
  shownAt,
  spreadMsOf,
} from "./quota-window.ts";
import { Share, type ShareRecord } from "./share.ts";
import {
  mayGoAhead,
  mostInMinute,
  PUBLISHED_LIMITS,
  partOf,
  partOfMinuteAt,
  publishedWindows,
  untoldPacePerMs,
} from "./untold.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** Requests that may be saved up in a quiet time. */
const SAVED_MAX = 50;
const SAVED_ASKS_MAX = 3;
/** A call at the pace pays for all of its requests, up to this debt. */
const DEBT_MAX = 4;
/** Asking takes at most this part of an account's requests of a day. */
const ASKING = 0.3;
/** In an idle time it takes this part, evenly over the day. */
const ASKING_IDLE = 0.15;
/** Even with nothing left for asking, a machine asks once in this time. */
const ASKING_MS_MAX = 30 * MINUTE_MS;
/** Asking is reckoned with at least this share, however small the machine's share is. */
const ASKING_SHARE_MIN = 1 / 16;
/** The account counts as active for this long after the last change. */
const ACTIVE_MS = 10 * MINUTE_MS;
/** Machines that wait for the same moment spread over one second per machine, up to this many. */
const CROWD_MAX = 30;

/**
 * What a call is made for. `person`: a person waits for it. `edit`: something was written here, in
 * what the service knows. `change`: something else changed, here or at the service, or was linked.
 * `retry`: the service refused it before. `ask`: to find out whether something changed.
 */
export type Urgency = "person" | "edit" | "change" | "retry" | "ask";

/**
 * How the limits are known. `told`: by answers. `none`: there are none. `published`: no answer
 * tells them, so the published ones count.
 */
export type Limits = "told" | "none" | "published";

/** The part of a budget that survives a restart. Times are by the budget's clock. */
export interface BudgetRecord {
  readonly limits: Limits;
  readonly savedAt: number;
  readonly saved: number;
  readonly savedAsks: number;
  readonly share: ShareRecord;
  readonly windows: readonly QuotaWindow[];
  readonly times: readonly number[];
  readonly day: DayRecord;
  readonly closedUntil: number;
}

/** What is left of one quota, for a screen. */
export interface QuotaView {
  readonly name: string;
  readonly limit: number | null;
  readonly remaining: number;
  readonly moreAt: number;
}

/**
 * Decides how many requests this machine may make of one account, and when. Pure but for its own
 * state: time and randomness come with each event. Time is in milliseconds of a clock that never
 * goes back and is close to the wall clock; randomness is a fraction in [0, 1).
 *
 * 1. A person's request may use everything that is left; any other request leaves a tenth.
 * 2. Over a day, other requests keep to this machine's share of a pace. The pace is nine tenths of
 *    what is left, over the time until the quota is renewed, at most 8 hours. Requests that are not
 *    used are saved, up to 50.
 * 3. `Retry-After` binds every request.
 * 4. Asking takes at most 30 % of a day, and less in an idle time.
 * 5. Where nobody tells limits, `untold.ts` has the pace, and says what may go ahead of it.
 *
 * ```
 * const budget = new Budget(undefined, now);
 * const at = budget.notBefore("change", now); // `now` or earlier: the request may go
 * budget.began("change", now);
 * budget.sent(now);
 * budget.answered(parseQuotas(headers), now, fraction);
 * ```
 */
export class Budget {
  #limits: Limits;
  #saved: number;
  #savedAsks: number;
  #at: number;
  readonly #share: Share;
  readonly #own: OwnRequests;
  #windows: readonly QuotaWindow[];
  #closedUntil: number;
  #activeAt: number;
  /** When the last call was made that was no asking. */
  #changedAt = Number.NEGATIVE_INFINITY;
  /** How many machines use the account, as far as the last two answers show. */
  #crowd = 1;
  #jitter = 0;
  /** The last call that began goes at the pace, and pays for each of its requests. */
  #isPaid = false;

  constructor(record: BudgetRecord | undefined, now: number) {
    const known = record && broughtBack(record, now);
    this.#limits = known?.limits ?? "published";
    this.#saved = known?.saved ?? SAVED_MAX;
    this.#savedAsks = known?.savedAsks ?? 1;
    this.#at = known?.savedAt ?? now;
    this.#share = new Share(known?.share, now);
    this.#windows = known?.windows ?? [];
    this.#own = new OwnRequests(known, now);
    this.#closedUntil = known?.closedUntil ?? 0;
    this.#activeAt = now;
  }

  get limits(): Limits {
    return this.#limits;
  }

  /** When the pause ends for which the service asked last; 0 where none is known any more. */
  get closedUntil(): number {
    return this.#closedUntil;
  }

  /** When a request may go: at once if this is not after `now`. */
  notBefore(urgency: Urgency, now: number): number {
    this.#pass(now);
    if (urgency === "person") return Math.max(this.#closedUntil, this.#roomAt(urgency, now));
    const opensAt = this.#opensAt(now);
    if (this.#limits === "none") return opensAt;
    const at = Math.max(opensAt, this.#roomAt(urgency, now), this.#paceAt(urgency, now));
    return urgency === "ask" ? Math.max(at, this.#askedAt(now)) : at;
  }

  /** What a request that may not go now waits for longest. */
  whyLater(urgency: Exclude<Urgency, "ask">, now: number): Reason {
    this.#pass(now);
    const waits: (readonly [at: number, why: Reason])[] = this.#known(now).map((window) => {
      const { limit, windowMs } = window.quota;
      return [this.#roomIn(window, urgency, now), { code: "requests-used", limit, windowMs }];
    });
    waits.push([this.#closedUntil, { code: "requests-refused" }]);
    if (urgency !== "person" && this.#limits !== "none") {
      const everyMs = 1 / this.#pacePerMs(now);
      waits.push([this.#aheadAt(urgency, now), { code: "requests-pace", everyMs }]);
      const limit = mostInMinute(this.share);
      waits.push([this.#minuteAt(now), { code: "requests-shared", limit }]);
    }
    const latest = Math.max(...waits.map(([at]) => at));
    return waits.find(([at]) => at === latest)?.[1] ?? { code: "requests-refused" };
  }

  /** A request goes out. */
  sent(now: number): void {
    this.#pass(now);
    if (this.#limits === "none") return;
    this.#saved = Math.max(this.#isPaid ? -DEBT_MAX : 0, this.#saved - 1);
    this.#own.sent(now);
    this.#share.sent();
    this.#windows = this.#windows.map((each) => ({ ...each, sent: each.sent + 1 }));
  }

  /** The last request never reached the service: there was no connection. */
  unsent(now: number): void {
    this.#pass(now);
    if (this.#limits === "none") return;
    this.#saved = Math.min(SAVED_MAX, this.#saved + 1);
    this.#own.unsent();
    this.#windows = this.#windows.map((each) => ({ ...each, sent: Math.max(0, each.sent - 1) }));
  }

  /** A call begins; it consists of one request or more. */
  began(urgency: Urgency, now: number): void {
    this.#isPaid =
      this.#limits === "published" && urgency !== "person" && !this.#mayGoAhead(urgency);
    if (urgency === "ask") {
      this.#savedAsks = Math.max(0, this.#savedAsks - 1);
      this.#own.asked();
    } else {
      this.#changedAt = now;
    }
  }

  /** Something changed, here or at the service. */
  active(now: number): void {
    this.#activeAt = now;
  }

  /** An answer came. `quotas` is what its headers say; undefined where they say nothing. */
  answered(quotas: readonly ToldQuota[] | undefined, now: number, fraction: number): void {
    this.#pass(now);
    this.#jitter = fraction;
    if (this.#limits === "published" && !quotas) this.#share.answeredUnseen(now);
    if (!quotas) return;
    this.#limits = "told";
    const othersPerMs = this.#othersSince(quotas, now);
    this.#windows = quotas.map((quota) => ({ quota, toldAt: now, sent: 0, othersPerMs }));
    const longest = this.#longest();
    if (longest) this.#share.told(longest, this.#targetPerMs(longest, now));
  }

  /** The service answered an exchange without naming limits: it has none. */
  unlimited(): void {
    this.#limits = "none";
    this.#windows = [];
  }

  /** The service asked for a pause, for whatever reason. */
  paused(retryAfterMs: number, now: number): void {
    this.#pass(now);
    this.#closedUntil = Math.max(this.#closedUntil, now + retryAfterMs);
  }

  /** The service refused a request for its limits, and asked for a pause of `retryAfterMs`. */
  refused(retryAfterMs: number, now: number, fraction: number): void {
    this.paused(retryAfterMs, now);
    this.#jitter = fraction;
    const inMinute = this.#own.inMinute(now).length;
    const part = this.#limits === "published" ? inMinute / PUBLISHED_LIMITS.minute : 1;
    this.#share.refused(now, part);
  }

  view(now: number): readonly QuotaView[] {
    this.#pass(now);
    return this.#known(now).map((window) => ({
      name: window.quota.name,
      limit: window.quota.limit ?? null,
      ...shownAt(window, now, this.#own.times),
    }));
  }

  /** What to store. `reserved` requests count as made already. */
  record(reserved: number): BudgetRecord {
    return {
      limits: this.#limits,
      savedAt: this.#at,
      saved: Math.max(0, this.#saved - reserved),
      savedAsks: this.#savedAsks,
      share: this.#share.record(),
      windows: this.#windows.map((window) => ({ ...window, sent: window.sent + reserved })),
      ...this.#own.record(reserved, this.#at),
      closedUntil: this.#closedUntil,
    };
  }

  /** This machine's share of the account's pace, for screens and tests. */
  get share(): number {
    const { value } = this.#share;
    return this.#limits === "told" ? value : partOf(value);
  }

  /**
   * The quotas that were told, or else the published ones with this machine's own requests counted.
   */
  #known(now: number): readonly QuotaWindow[] {
    if (this.#limits === "none") return [];
    const told = this.#limits === "told" ? this.#windows : [];
    const known = told.filter((window) => !isSpent(window, now));
    return known.length > 0 ? known : publishedWindows(this.#own, now);
  }

  #pass(now: number): void {
    const spentMs = Math.max(0, now - this.#at);
    this.#at = Math.max(this.#at, now);
    if (this.#closedUntil + CROWD_MAX * SECOND_MS < now) this.#closedUntil = 0;
    if (this.#limits === "none") return;
    this.#own.pass(now);
    this.#saved = Math.min(SAVED_MAX, this.#saved + spentMs * this.#pacePerMs(now));
    const asks = this.#savedAsks + spentMs * this.#asksPerMs(now);
    this.#savedAsks = Math.min(SAVED_ASKS_MAX, asks);
  }

  /** This machine's share of the account's pace, in requests a millisecond. */
  #pacePerMs(now: number): number {
    if (this.#limits === "published") return untoldPacePerMs(this.share, this.#own, now);
    const known = this.#known(now);
    const long = known.filter(isLong);
    const paces =
      long.length > 0 ? long.map((each) => pacePerMs(each, now)) : known.map(shortPacePerMs);
    return this.share * Math.min(...paces);
  }

  /**
   * The pace of asking: what is left of this machine's part, over the time until the quota is
   * renewed.
   */
  #asksPerMs(now: number): number {
    const share = Math.max(this.share, ASKING_SHARE_MIN);
    const days = this.#known(now).filter(isLong);
    const paces = days.map((window) => {
      const { limit = window.quota.remaining } = window.quota;
      const left = Math.max(0, share * ASKING * limit - this.#own.today.asked);
      return left / spreadMsOf(window, now);
    });
    if (!this.#isActive(now)) paces.push(share * this.#idlePerMs(now));
    return Math.max(1 / ASKING_MS_MAX, Math.min(this.#pacePerMs(now), ...paces));
  }

  /** The pace at which all of the account's machines together may ask in an idle time. */
  #idlePerMs(now: number): number {
    const day = this.#known(now).filter(isLong);
    const paces = day.map(({ quota }) => {
      return (ASKING_IDLE * (quota.limit ?? quota.remaining)) / (quota.windowMs ?? DAY_MS);
    });
    return Math.min(...paces, Number.POSITIVE_INFINITY);
  }

  /** The pace that all of the account's machines together should have, in this machine's view. */
  #targetPerMs(longest: QuotaWindow, now: number): number {
    return this.#isActive(now) ? pacePerMs(longest, now) : this.#idlePerMs(now);
  }

  #isActive(now: number): boolean {
    return now - this.#activeAt < ACTIVE_MS;
  }

  /** When the pace lets a request go that no person waits for, or lets it go ahead. */
  #paceAt(urgency: Exclude<Urgency, "person">, now: number): number {
    return Math.max(this.#minuteAt(now), this.#aheadAt(urgency, now));
  }

  #minuteAt(now: number): number {
    return this.#limits === "published" ? partOfMinuteAt(this.share, this.#own, now) : now;
  }

  #aheadAt(urgency: Exclude<Urgency, "person">, now: number): number {
    return this.#mayGoAhead(urgency) ? now : this.#savedAt(now);
  }

  #mayGoAhead(urgency: Exclude<Urgency, "person">): boolean {
    return this.#limits === "published" && mayGoAhead(urgency, this.share, this.#own);
  }

  #savedAt(now: number): number {
    if (this.#saved >= 1) return now;
    this.#share.throttled();
    const at = now + (1 - this.#saved) / this.#pacePerMs(now);
    return Math.min(at, this.#nextResetAt(now));
  }

  #askedAt(now: number): number {
    if (this.#savedAsks >= 1) return now;
    if (now - this.#changedAt > 2 * MINUTE_MS) this.#share.throttled();
    return Math.min(now + (1 - this.#savedAsks) / this.#asksPerMs(now), this.#nextResetAt(now));
  }

  /**
   * When the next window is renewed that is long, or whose limit is unknown. All machines wait for
   * it.
   */
  #nextResetAt(now: number): number {
    const awaited = this.#known(now).filter((window) => {
      return isLong(window) || window.quota.limit === undefined;
    });
    const resets = awaited.map(moreAt);
    const next = Math.min(...resets.filter((at) => at > now));
    return next + MINUTE_MS * this.#jitter;
  }

  /** After a pause all machines spread, until every short window is renewed as a whole. */
  #opensAt(now: number): number {
    if (this.#closedUntil === 0) return 0;
    const short = this.#known(now).filter((window) => !isLong(window));
    const renewed = short.length > 0 ? Math.max(...short.map(renewedAt)) : Number.POSITIVE_INFINITY;
    return Math.max(this.#closedUntil, Math.min(this.#closedUntil + this.#spreadMs, renewed));
  }

  /** When every window has room for the request. */
  #roomAt(urgency: Urgency, now: number): number {
    return Math.max(now, ...this.#known(now).map((each) => this.#roomIn(each, urgency, now)));
  }

  #roomIn(window: QuotaWindow, urgency: Urgency, now: number): number {
    const reserve = urgency === "person" || isLong(window) ? 0 : reserveOf(window);
    const ownTimes = this.#own.times;
    const lacking = reserve + 1 - remainingAt(window, now, ownTimes);
    if (lacking <= 0) return now;
    if (urgency === "person") return moreAt(window);
    // At its renewal there may be more, unless another machine takes it first. The fewer requests
    // are left, the longer every machine waits before it tries, until it knows that there are.
    const spreadAt = moreAt(window) + this.#spreadMs * (1 + lacking);
    if (isLong(window)) return spreadAt;
    return Math.min(spreadAt, knownLeftAt(window, reserve + 1, { now, ownTimes }));
  }

  get #spreadMs(): number {
    return this.#jitter * SECOND_MS * Math.min(CROWD_MAX, this.#crowd);
  }

  /** Requests a millisecond by other machines since the last answer. Sets `#crowd`, too. */
  #othersSince(quotas: readonly ToldQuota[], now: number): number {
    const before = this.#longest();
    const after = before && quotas.find(({ name }) => name === before.quota.name);
    if (!after) return 0;
    const used = before.quota.remaining - after.remaining;
    // A smaller plan has less left, although nobody used it.
    if (used < 0 || before.quota.limit !== after.limit) return 0;
    const others = Math.max(0, used - before.sent);
    this.#crowd = 1 + others / Math.max(1, before.sent);
    return others / Math.max(SECOND_MS, now - before.toldAt);
  }

  #longest(): QuotaWindow | undefined {
    const long = this.#windows.filter(isLong);
    return long.sort((one, other) => (other.quota.windowMs ?? 0) - (one.quota.windowMs ?? 0))[0];
  }
}

/** A record from a clock that was ahead of this one counts as made now. */
function broughtBack(record: BudgetRecord, now: number): BudgetRecord {
  const ahead = Math.max(0, record.savedAt - now);
  if (ahead === 0) return record;
  return {
    ...record,
    savedAt: now,
    share: { ...record.share, changedAt: record.share.changedAt - ahead },
    windows: record.windows.map((each) => ({ ...each, toldAt: each.toldAt - ahead })),
    times: record.times.map((time) => time - ahead),
    day: { ...record.day, number: utcDayOf(now) },
    closedUntil: record.closedUntil === 0 ? 0 : record.closedUntil - ahead,
  };
}
