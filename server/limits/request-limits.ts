import { assert } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import type { Stats } from "../../shared/wire/stats.ts";
import { timestampOf } from "../../shared/wire/timestamp.ts";
import type { World } from "../../shared/world.ts";
import type { Caller } from "../services/services.ts";
import type { CountsWriter } from "./counts-writer.ts";
import { PLAN_LIMITS, type PlanLimits } from "./plans.ts";
import { type OwnQuota, quotaHeaders, remainingOf, wholeSeconds } from "./quota.ts";
import { type Moment, Usage, type UsageRecord, type UsedWindow, type Windows } from "./usage.ts";

/**
 * This many accounts are kept in memory. Those that were quiet longest are read again when they
 * return.
 */
const ACCOUNTS_IN_MEMORY_MAX = 10_000;

/** Both windows as `stats` shows them. */
export function shownUsage({ minute, day }: Windows, wall: number): Stats["requests"] {
  const shown = (window: UsedWindow) => ({
    limit: window.limit,
    remaining: remainingOf(window),
    used: window.used,
    resets_at: timestampOf(wall + window.freesInMs),
  });
  return { minute: shown(minute), day: shown(day) };
}

/** An account in memory. */
interface CountedAccount {
  readonly usage: Usage;
  readonly quota: OwnQuota;
}

/**
 * Counts the requests of every account. With a `writer` each account is limited by its plan, and
 * counts survive a restart. Without one nothing is limited, and counts are only for statistics.
 */
export class RequestLimits {
  /** The one that was quiet longest comes first. */
  readonly #accounts = new Map<AccountId, CountedAccount>();
  readonly #loading = new Map<AccountId, Promise<CountedAccount>>();
  #lastWall = Number.NEGATIVE_INFINITY;
  #setBackMs = 0;

  constructor(
    readonly world: World,
    readonly writer?: CountsWriter,
    /** Undefined for an account that nothing limits. */
    readonly limitsOf: (caller: Caller) => PlanLimits | undefined = ({ plan }) => PLAN_LIMITS[plan],
  ) {}

  /** The quota of the caller's account; a promise only if it has to be read first. */
  quotaOf(caller: Caller): OwnQuota | Promise<OwnQuota> {
    const counted = this.#account(caller);
    return counted instanceof Promise ? counted.then(({ quota }) => quota) : counted.quota;
  }

  /** For `stats`. */
  async read(caller: Caller): Promise<Stats["requests"]> {
    const { usage } = await this.#account(caller);
    const now = this.#moment();
    return shownUsage(usage.windows(now), now.wall);
  }

  /**
   * Counts as many requests as leave `left` of a window, where they are limited; for tests of what
   * a client does then.
   */
  async use(caller: Caller, window: keyof Windows, left: number): Promise<void> {
    const { usage } = await this.#account(caller);
    usage.leave(window, left, this.#moment());
    this.writer?.changed(caller.account, usage);
  }

  /**
   * An account, or all without one, has made no request. Drops no stored counts of accounts that
   * are not in memory.
   */
  forget(account?: AccountId): void {
    for (const [id, { usage }] of this.#accounts) {
      if (account !== undefined && id !== account) continue;
      usage.forget(this.#moment());
      this.writer?.changed(id, usage);
    }
  }

  /** Stores what is not stored yet. No request may follow. */
  async close(): Promise<void> {
    await this.writer?.close();
  }

  #account(caller: Caller): CountedAccount | Promise<CountedAccount> {
    const { account } = caller;
    const counted = this.#accounts.get(account);
    if (!counted) return this.#load(caller);
    this.#accounts.delete(account);
    this.#accounts.set(account, counted);
    counted.usage.limitTo(this.#limitsOf(caller));
    return counted;
  }

  #load(caller: Caller): CountedAccount | Promise<CountedAccount> {
    if (!this.writer) return this.#add(caller, undefined);
    const { account } = caller;
    const loading =
      this.#loading.get(account) ??
      this.writer.store
        .find(account)
        .then((known) => this.#add(caller, known))
        .finally(() => this.#loading.delete(account));
    this.#loading.set(account, loading);
    return loading;
  }

  #add(caller: Caller, known: UsageRecord | undefined): CountedAccount {
    const { account } = caller;
    assert(!this.#accounts.has(account), "an account is read once");
    const usage = new Usage(this.#limitsOf(caller), known, this.#moment());
    const counted = { usage, quota: this.#quota(account, usage) };
    this.#accounts.set(account, counted);
    this.#forgetQuietest();
    return counted;
  }

  #quota(account: AccountId, usage: Usage): OwnQuota {
    const headersAt = (now: Moment) =>
      usage.limits ? quotaHeaders(usage.limits, usage.windows(now)) : {};
    return {
      exhausted: () => {
        const waitMs = usage.exhausted(this.#moment());
        return waitMs === undefined ? undefined : wholeSeconds(waitMs);
      },
      headers: () => headersAt(this.#moment()),
      charge: () => {
        const now = this.#moment();
        const waitMs = usage.charge(now);
        const headers = headersAt(now);
        if (waitMs !== undefined) return { headers, retryAfterSeconds: wholeSeconds(waitMs) };
        this.writer?.changed(account, usage);
        const refund = () => {
          usage.refund(now);
          this.writer?.changed(account, usage);
          return headersAt(this.#moment());
        };
        return { headers, retryAfterSeconds: undefined, refund };
      },
    };
  }

  #limitsOf(caller: Caller): PlanLimits | undefined {
    return this.writer ? this.limitsOf(caller) : undefined;
  }

  /** To be called after the clock was set: one that is set back and then moves on tells nobody. */
  noteClock(): void {
    this.#moment();
  }

  #moment(): Moment {
    const wall = this.world.now();
    if (wall < this.#lastWall) this.#setBackMs += this.#lastWall - wall;
    this.#lastWall = wall;
    return { wall, steady: wall + this.#setBackMs };
  }

  /** What is not stored yet stays, and so do all later ones. */
  #forgetQuietest(): void {
    for (const account of this.#accounts.keys()) {
      if (this.#accounts.size <= ACCOUNTS_IN_MEMORY_MAX) return;
      if (this.writer?.holds(account) === false) return;
      this.#accounts.delete(account);
    }
  }
}
