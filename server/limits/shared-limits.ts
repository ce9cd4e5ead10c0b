import { RateLimited } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";
import type { Stats } from "../../shared/wire/stats.ts";
import { delay, type World } from "../../shared/world.ts";
import type { Caller } from "../services/services.ts";
import { PLAN_LIMITS, type PlanLimits } from "./plans.ts";
import { type Charge, type Quota, type QuotaHeaders, quotaHeaders, wholeSeconds } from "./quota.ts";
import { shownUsage } from "./request-limits.ts";
import { type Moment, Usage, type UsageRecord, type Windows } from "./usage.ts";

/** Counts of accounts that several servers share. Times are the database's clock. */
export interface SharedCounts {
  /**
   * Stores what `change` makes of the accounts' counts, in one transaction that other servers see
   * whole or not at all. Leaves out accounts that another server is just changing. `change` may be
   * called again with later counts. A crash of the database may lose the last second.
   */
  change(
    accounts: readonly AccountId[],
    change: (counts: ReadonlyMap<AccountId, UsageRecord>, now: number) => Changed,
  ): Promise<void>;
  /** As of now. */
  find(
    account: AccountId,
  ): Promise<{ readonly known: UsageRecord | undefined; readonly now: number }>;
}

/** The counts to store. */
export type Changed = ReadonlyMap<AccountId, UsageRecord>;

/** Requests that wait for their charge at most; more are refused at once. */
const WAITING_MAX = 4096;

/** Accounts that one transaction changes at most. */
const ACCOUNTS_AT_ONCE = 64;

/** A request whose account another server is changing asks again after this time, then longer. */
const AGAIN_MS = 1;
const AGAIN_MS_MAX = 32;

/** After this long it is refused. */
const WAIT_MS_MAX = 5000;

/** What was read of an account is trusted for so long. */
const FRESH_MS = 1000;

/**
 * Clocks of a database's machines differ by less than this. A clock that was set back differs by
 * more.
 */
const SKEW_MS = 1000;

const ACCOUNTS_IN_MEMORY_MAX = 10_000;

/** What a request wants of its account's counts. */
interface Asked {
  readonly account: AccountId;
  readonly limits: PlanLimits;
  /** Charges, or takes a charge back. */
  readonly change: (usage: Usage, now: Moment) => number | undefined;
  readonly since: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (reason: unknown) => void;
}

interface Outcome {
  readonly now: Moment;
  /** Milliseconds to wait, where it was refused. */
  readonly waitMs: number | undefined;
  readonly windows: Windows;
}

/** What was read last of an account, and when by the monotonic clock. */
interface Seen {
  readonly windows: Windows;
  readonly at: number;
  readonly waitMs: number | undefined;
}

/**
 * Limits each account by its plan, exactly, however many servers share its counts: a request is
 * charged by a transaction before it is answered. Requests that come together share one.
 */
export class SharedLimits {
  readonly #seen = new Map<AccountId, Seen>();
  #waiting: Asked[] = [];
  #changing: Promise<void> | undefined;

  constructor(
    readonly counts: SharedCounts,
    readonly world: World,
  ) {}

  /** The quota of the caller's account. */
  quotaOf(caller: Caller): Quota {
    const limits = PLAN_LIMITS[caller.plan];
    const { account } = caller;
    return {
      exhausted: async () => {
        const { waitMs } = await this.#look(account, limits);
        return waitMs === undefined ? undefined : wholeSeconds(waitMs);
      },
      headers: async () => quotaHeaders(limits, (await this.#look(account, limits)).windows),
      charge: () => this.#charge(account, limits),
    };
  }

  /** For `stats`. */
  async read({ account, plan }: Caller): Promise<Stats["requests"]> {
    const { usage, now } = await this.#find(account, PLAN_LIMITS[plan]);
    return shownUsage(usage.windows(now), now.wall);
  }

  /** Resolves when what was asked is stored. No request may follow. */
  async close(): Promise<void> {
    while (this.#changing) await this.#changing;
  }

  async #charge(account: AccountId, limits: PlanLimits): Promise<Charge> {
    const refused = this.#refusedLately(account);
    if (refused) return charged(limits, refused.windows, refused.waitMs);
    const outcome = await this.#ask(account, limits, (usage, now) => usage.charge(now));
    const charge = charged(limits, outcome.windows, outcome.waitMs);
    if (outcome.waitMs !== undefined) return charge;
    const takeBack = (usage: Usage) => {
      usage.refund(outcome.now);
      return undefined;
    };
    const refund = async () =>
      quotaHeaders(limits, (await this.#ask(account, limits, takeBack)).windows);
    return { ...charge, refund };
  }

  /** An account that keeps asking is refused without a transaction, for a second at most. */
  #refusedLately(account: AccountId): Seen | undefined {
    const seen = this.#fresh(account);
    return seen?.waitMs === undefined ? undefined : seen;
  }

  async #look(account: AccountId, limits: PlanLimits): Promise<Omit<Seen, "at">> {
    const seen = this.#fresh(account);
    if (seen) return seen;
    const { usage, now } = await this.#find(account, limits);
    return this.#see(account, { windows: usage.windows(now), waitMs: usage.exhausted(now) });
  }

  /** What was seen within a second, as it is now. */
  #fresh(account: AccountId): Seen | undefined {
    const seen = this.#seen.get(account);
    const ageMs = this.world.monotonic() - (seen?.at ?? Number.NEGATIVE_INFINITY);
    if (!seen || ageMs >= FRESH_MS) return undefined;
    const later = <Window extends Windows["minute"]>(window: Window) => ({
      ...window,
      freesInMs: Math.max(0, window.freesInMs - ageMs),
    });
    const { minute, day } = seen.windows;
    const leftMs = (seen.waitMs ?? 0) - ageMs;
    const waitMs = leftMs > 0 ? leftMs : undefined;
    return { at: seen.at, waitMs, windows: { minute: later(minute), day: later(day) } };
  }

  async #find(account: AccountId, limits: PlanLimits) {
    const { known, now: wall } = await this.counts.find(account);
    const now = momentAfter(known, wall);
    return { usage: new Usage(limits, known, now), now };
  }

  #see(account: AccountId, seen: Omit<Seen, "at">): Seen {
    const noted = { ...seen, at: this.world.monotonic() };
    this.#seen.delete(account);
    this.#seen.set(account, noted);
    for (const quietest of this.#seen.keys()) {
      if (this.#seen.size <= ACCOUNTS_IN_MEMORY_MAX) break;
      this.#seen.delete(quietest);
    }
    return noted;
  }

  #ask(account: AccountId, limits: PlanLimits, change: Asked["change"]): Promise<Outcome> {
    if (this.#waiting.length >= WAITING_MAX) throw overloaded();
    return new Promise((resolve, reject) => {
      const since = this.world.monotonic();
      this.#waiting.push({ account, limits, change, since, resolve, reject });
      this.#changing ??= this.#drain();
    });
  }

  async #drain(): Promise<void> {
    let againMs = AGAIN_MS;
    while (this.#waiting.length > 0) {
      // What comes in the same turn shares the transaction.
      await new Promise<void>((resolve) => this.world.defer(resolve));
      const asked = this.#takeNext();
      const left = await this.#change(asked);
      this.#waiting = [...left, ...this.#waiting];
      if (left.length < asked.length) againMs = AGAIN_MS;
      else {
        await delay(this.world, againMs);
        againMs = Math.min(2 * againMs, AGAIN_MS_MAX);
      }
    }
    this.#changing = undefined;
  }

  /** Those of the first accounts that wait, in the order in which they came. */
  #takeNext(): Asked[] {
    const accounts = new Set<AccountId>();
    for (const { account } of this.#waiting) {
      accounts.add(account);
      if (accounts.size === ACCOUNTS_AT_ONCE) break;
    }
    const taken = this.#waiting.filter(({ account }) => accounts.has(account));
    this.#waiting = this.#waiting.filter(({ account }) => !accounts.has(account));
    return taken;
  }

  /** Never rejects. Returns those whose account was being changed by another server. */
  async #change(asked: readonly Asked[]): Promise<Asked[]> {
    const accounts = [...new Set(asked.map(({ account }) => account))].sort();
    let outcomes = new Map<Asked, Outcome>();
    try {
      await this.counts.change(accounts, (counts, now) => {
        outcomes = new Map();
        return changed(asked, counts, { now, outcomes });
      });
    } catch (thrown) {
      // The charge may have been committed nevertheless. It is not tried again, so that nothing is
      // charged twice.
      for (const { reject } of asked) reject(thrown);
      return [];
    }
    for (const [each, outcome] of outcomes) {
      this.#see(each.account, outcome);
      each.resolve(outcome);
    }
    return asked.filter((each) => !outcomes.has(each) && this.#mayWait(each));
  }

  #mayWait({ since, reject }: Asked): boolean {
    if (this.world.monotonic() - since < WAIT_MS_MAX) return true;
    reject(overloaded());
    return false;
  }
}

function changed(
  asked: readonly Asked[],
  counts: ReadonlyMap<AccountId, UsageRecord>,
  { now: wall, outcomes }: { readonly now: number; readonly outcomes: Map<Asked, Outcome> },
): Changed {
  const usages = new Map<AccountId, { readonly usage: Usage; readonly now: Moment }>();
  for (const each of asked) {
    const known = counts.get(each.account);
    if (!known) continue;
    let found = usages.get(each.account);
    if (!found) {
      const now = momentAfter(known, wall);
      found = { usage: new Usage(each.limits, known, now), now };
      usages.set(each.account, found);
    }
    const { usage, now } = found;
    usage.limitTo(each.limits);
    const waitMs = each.change(usage, now);
    outcomes.set(each, { now, waitMs, windows: usage.windows(now) });
  }
  return new Map([...usages].map(([account, { usage }]) => [account, usage.record()]));
}

/** The clock of the counts never goes back by what clocks commonly differ. */
function momentAfter(known: UsageRecord | undefined, now: number): Moment {
  const last = known?.minute.at(-1) ?? now;
  return { wall: now, steady: last - now < SKEW_MS ? Math.max(last, now) : now };
}

function charged(limits: PlanLimits, windows: Windows, waitMs: number | undefined): Charge {
  const headers: QuotaHeaders = quotaHeaders(limits, windows);
  return { headers, retryAfterSeconds: waitMs === undefined ? undefined : wholeSeconds(waitMs) };
}

function overloaded(): RateLimited {
  return new RateLimited("the server has too much to do at the moment: try again in a second", 1);
}
