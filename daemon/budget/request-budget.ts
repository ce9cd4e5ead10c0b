import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import type { Reason } from "../../shared/reasons.ts";
import { randomFraction, type World } from "../../shared/world.ts";
import { Budget, type BudgetRecord, type QuotaView, type Urgency } from "./budget.ts";
import type { ToldQuota } from "./quota-headers.ts";

/**
 * What is stored counts this many requests as made before they are. So a daemon that is killed and
 * restarted in a loop can't spend more than its budget, and only one request in a few needs a
 * commit.
 */
const RESERVED_CALLS = 8;
const RESERVED_CALLS_MIN = 4;
/** While that commit is under way, a call tries again after this time. */
const LOOK_AGAIN_MS = 50;

/** Where a budget is kept across restarts. */
export interface BudgetStore {
  read(account: string): Promise<BudgetRecord | undefined>;
  /** Durable when it resolves. */
  write(account: string, record: BudgetRecord): Promise<void>;
}

/** A budget as `status` shows it. */
export interface BudgetView {
  /** Empty where nothing is limited. */
  readonly quotas: readonly QuotaView[];
  /** True: the service tells its quotas. False: they are reckoned from the published ones. */
  readonly told: boolean;
}

/** Counts this machine's requests of one service account, and keeps the count across restarts. */
export class RequestBudget {
  /** The account's key in the store. Nothing of the token can be read from it. */
  readonly account: string;
  readonly #world: World;
  /**
   * The difference between the world's steady clock and the budget's, which is close to the wall
   * clock.
   */
  #offsetMs: number;
  #budget: Budget;
  #reservedCalls = RESERVED_CALLS;
  #requests = 0;
  #store: BudgetStore | undefined;
  #log: Log | undefined;
  #writing: Promise<void> | undefined;

  constructor(account: string, world: World) {
    this.account = account;
    this.#world = world;
    this.#offsetMs = world.now() - world.monotonic();
    this.#budget = new Budget(undefined, this.#now);
  }

  /**
   * Loads what was stored, and stores changes from now on. To be called before the first request.
   */
  async keepIn(store: BudgetStore, log: Log): Promise<void> {
    const record = await store.read(this.account);
    this.#budget = new Budget(record, this.#now);
    this.#store = store;
    this.#log = log;
    await this.#write(RESERVED_CALLS);
  }

  /** This machine's part of the pace, between nothing and 1. */
  get share(): number {
    return this.#budget.share;
  }

  /**
   * Until when the service asked for a pause, on the world's steady clock; undefined where that is
   * over.
   */
  get pausedUntil(): number | undefined {
    const until = this.#budget.closedUntil;
    return until > this.#now ? until - this.#offsetMs : undefined;
  }

  /** When a call may be made, on the world's steady clock; 0 when it may at once. */
  notBefore(urgency: Urgency): number {
    const now = this.#now;
    const isKept =
      this.#reservedCalls > 0 || urgency === "person" || this.#budget.limits === "none";
    const keptAt = isKept ? now : now + LOOK_AGAIN_MS;
    const at = Math.max(keptAt, this.#budget.notBefore(urgency, now));
    if (at <= now) return 0;
    // At least one millisecond later: the sum of both clocks is too coarse for smaller steps.
    return Math.max(at - this.#offsetMs, this.#world.monotonic() + 1);
  }

  /** What a call that may not be made now waits for longest. */
  whyLater(urgency: Exclude<Urgency, "ask">): Reason {
    return this.#budget.whyLater(urgency, this.#now);
  }

  /** A call begins. Each of its requests is reported by `sent`. */
  began(urgency: Urgency): void {
    this.#budget.began(urgency, this.#now);
  }

  sent(): void {
    this.#budget.sent(this.#now);
    this.#requests += 1;
    if (!this.#store || this.#budget.limits === "none") return;
    this.#reservedCalls -= 1;
    if (this.#reservedCalls <= RESERVED_CALLS_MIN) this.#keep();
  }

  /** The last request never reached the service. */
  unsent(): void {
    this.#budget.unsent(this.#now);
  }

  /** An answer came, with whatever status. `quotas` is what its headers tell. */
  answered(quotas: readonly ToldQuota[] | undefined): void {
    this.#budget.answered(quotas, this.#now, randomFraction(this.#world));
  }

  /** The service has shown that it counts no requests. */
  unlimited(): void {
    if (this.#budget.limits === "none") return;
    this.#budget.unlimited();
    this.#keep();
  }

  /** The service takes no calls for now, whoever calls. */
  paused(retryAfterMs: number): void {
    this.#budget.paused(retryAfterMs, this.#now);
    this.#keep();
  }

  /** It takes no more calls of this account for now. */
  refused(retryAfterMs: number | undefined): void {
    this.#budget.refused(retryAfterMs ?? 0, this.#now, randomFraction(this.#world));
    this.#keep();
  }

  /** Something changed, here or at the service: asking is worth more now. */
  active(): void {
    this.#budget.active(this.#now);
  }

  /** The machine slept: the steady clock stood still for this long. */
  slept(milliseconds: number): void {
    this.#offsetMs += milliseconds;
  }

  /** Whether a limit of the account is reached, as far as is known here. */
  get isUsedUp(): boolean {
    return this.view().quotas.some(({ remaining }) => remaining === 0);
  }

  view(): BudgetView {
    const quotas = this.#budget.view(this.#now);
    return { quotas, told: this.#budget.limits === "told" };
  }

  /** Stores the exact count. No request may follow. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#write(0);
  }

  get #now(): number {
    return this.#world.monotonic() + this.#offsetMs;
  }

  /** Stores in the background; one write at a time. */
  #keep(): void {
    this.#writing ??= this.#write(RESERVED_CALLS).finally(() => {
      this.#writing = undefined;
    });
  }

  /** Never rejects. Without a stored budget the calls go on. */
  async #write(reserved: number): Promise<void> {
    const record = this.#budget.record(reserved);
    const before = this.#requests;
    try {
      await this.#store?.write(this.account, record);
    } catch (thrown) {
      this.#log?.warn({ reason: messageOf(thrown) }, "the budget of requests was not kept");
    }
    this.#reservedCalls = reserved - (this.#requests - before);
  }
}
