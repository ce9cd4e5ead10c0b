import { AppError } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";

/** Live sockets that may be open at once. */
export interface LiveSocketLimits {
  readonly total: number;
  readonly perAccount: number;
}

/** What most machines of a team need, with room; each socket holds at most a few megabytes. */
const LIVE_SOCKET_LIMITS: LiveSocketLimits = { total: 10_000, perAccount: 1_000 };

/** Counts the live sockets that are open, and what they have subscribed to. */
export class LiveSockets {
  readonly #perAccount = new Map<AccountId, number>();
  readonly #onRecheck = new Set<() => void>();
  #open = 0;
  #subscriptions = 0;

  constructor(readonly limits: LiveSocketLimits = LIVE_SOCKET_LIMITS) {}

  get open(): number {
    return this.#open;
  }

  /** Projects that open sockets have subscribed to, each counted for each socket. */
  get subscriptions(): number {
    return this.#subscriptions;
  }

  /** Throws a 429 where another socket of `account` would be one too many. */
  refuseTooMany(account: AccountId): void {
    if ((this.#perAccount.get(account) ?? 0) >= this.limits.perAccount) {
      throw new AppError("rate_limited", "this account has too many live sockets: close some");
    }
    if (this.#open >= this.limits.total) {
      throw new AppError("rate_limited", "too many live sockets are open: try again later");
    }
  }

  add(account: AccountId): void {
    this.#open += 1;
    this.#perAccount.set(account, (this.#perAccount.get(account) ?? 0) + 1);
  }

  remove(account: AccountId): void {
    this.#open -= 1;
    const left = (this.#perAccount.get(account) ?? 0) - 1;
    if (left > 0) this.#perAccount.set(account, left);
    else this.#perAccount.delete(account);
  }

  /** Has every open socket look at once whether its token is still good. */
  recheck(): void {
    for (const check of [...this.#onRecheck]) check();
  }

  /** Returns how to stop. */
  onRecheck(check: () => void): () => void {
    this.#onRecheck.add(check);
    return () => {
      this.#onRecheck.delete(check);
    };
  }

  /** Says that one socket has subscribed to so many projects more, or less. */
  addSubscriptions(change: number): void {
    this.#subscriptions += change;
  }
}
