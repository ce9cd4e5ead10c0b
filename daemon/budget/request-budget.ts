import { messageOf } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { randomFraction, type World } from "../../shared/world.ts";
import { Budget, type BudgetRecord, type QuotaView, type Urgency } from "./budget.ts";
import type { ToldQuota } from "./quota-headers.ts";

/**
 * Calls that count as made in what is kept, before they are: a daemon that is killed and started in
 * a loop can't spend what it forgot, and only one call in a few brings a commit along.
 */
const HELD_CALLS = 8;
const HELD_CALLS_MIN = 4;
/** Where that commit is still under way, a call looks again after so long. */
const LOOK_AGAIN_MS = 50;

/** Where a budget survives a restart. */
export interface BudgetStore {
  read(account: string): Promise<BudgetRecord | undefined>;
  /** Durable when it resolves. */
  write(account: string, record: BudgetRecord): Promise<void>;
}

/** What a budget shows of itself. */
export interface BudgetView {
  /** Empty where nothing is limited. */
  readonly quotas: readonly QuotaView[];
  /** Whether the service tells them, or they are reckoned from what is published. */
  readonly told: boolean;
}

/** The requests of one service account, as far as this machine makes them; every one counts. */
export class RequestBudget {
  /** Names the account in the store; tells nothing of its token. */
  readonly account: string;
  readonly #world: World;
  /** From the world's steady clock to the budget's, which is near the wall clock. */
  #offsetMs: number;
  #budget: Budget;
  #heldCalls = HELD_CALLS;
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

  /** Goes on from what was kept, and keeps what changes; before the first request. */
  async keepIn(store: BudgetStore, log: Log): Promise<void> {
    const record = await store.read(this.account);
    this.#budget = new Budget(record, this.#now);
    this.#store = store;
    this.#log = log;
    await this.#write(HELD_CALLS);
  }

  /** This machine's part of the pace, between nothing and 1. */
  get share(): number {
    return this.#budget.share;
  }

  /** When a call may be made, on the world's steady clock; 0 when it may at once. */
  notBefore(urgency: Urgency): number {
    const now = this.#now;
    const isKept = this.#heldCalls > 0 || urgency === "person" || this.#budget.limits === "none";
    const keptAt = isKept ? now : now + LOOK_AGAIN_MS;
    const at = Math.max(keptAt, this.#budget.notBefore(urgency, now));
    if (at <= now) return 0;
    // At least a whole one later: the clocks' sum has no room for much less.
    return Math.max(at - this.#offsetMs, this.#world.monotonic() + 1);
  }

  /** A call begins; each of its requests is `sent`. */
  began(urgency: Urgency): void {
    this.#budget.began(urgency, this.#now);
  }

  sent(): void {
    this.#budget.sent(this.#now);
    this.#requests += 1;
    if (!this.#store || this.#budget.limits === "none") return;
    this.#heldCalls -= 1;
    if (this.#heldCalls <= HELD_CALLS_MIN) this.#keep();
  }

  /** The last request never reached the service. */
  unsent(): void {
    this.#budget.unsent(this.#now);
  }

  /** An answer, whatever its status, with the quotas that it tells. */
  answered(quotas: readonly ToldQuota[] | undefined): void {
    this.#budget.answered(quotas, this.#now, randomFraction(this.#world));
  }

  /** The service has shown that it counts nothing. */
  unlimited(): void {
    if (this.#budget.limits === "none") return;
    this.#budget.unlimited();
    this.#keep();
  }

  refused(retryAfterMs: number | undefined): void {
    this.#budget.refused(retryAfterMs ?? 0, this.#now, randomFraction(this.#world));
    this.#keep();
  }

  /** Something has changed, here or there: it is worth asking. */
  active(): void {
    this.#budget.active(this.#now);
  }

  /** The steady clock stood still for so long: the machine slept. */
  slept(milliseconds: number): void {
    this.#offsetMs += milliseconds;
  }

  view(): BudgetView {
    const quotas = this.#budget.view(this.#now);
    return { quotas, told: this.#budget.limits === "told" };
  }

  /** Keeps what is left, exactly. No request may come any more. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#write(0);
  }

  get #now(): number {
    return this.#world.monotonic() + this.#offsetMs;
  }

  /** In the background. */
  #keep(): void {
    this.#writing ??= this.#write(HELD_CALLS).finally(() => {
      this.#writing = undefined;
    });
  }

  /** Never rejects: where it can't be kept, the calls go on. */
  async #write(held: number): Promise<void> {
    const record = this.#budget.record(held);
    const before = this.#requests;
    try {
      await this.#store?.write(this.account, record);
    } catch (thrown) {
      this.#log?.warn({ reason: messageOf(thrown) }, "the budget of requests was not kept");
    }
    this.#heldCalls = held - (this.#requests - before);
  }
}
