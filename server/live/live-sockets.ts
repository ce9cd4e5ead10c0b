import { RateLimited } from "../../shared/errors.ts";
import type { AccountId } from "../../shared/ids.ts";

/** How many live sockets may be open at once. */
export interface LiveSocketLimits {
  readonly total: number;
  readonly perAccount: number;
}

/** Enough for a large team. Each socket takes at most a few megabytes. */
const LIVE_SOCKET_LIMITS: LiveSocketLimits = { total: 10_000, perAccount: 1_000 };

/** An open socket, as far as others have something to tell it. */
export interface AttachedSession {
  readonly account: AccountId;
  /** Checks the token now. */
  recheck(): void;
  /** Closes the socket: its client has to begin again. */
  end(reason: string): void;
}

/** A client that was refused may ask again after this many seconds. */
const RETRY_AFTER_S = 60;

/** Counts the open live sockets and their subscriptions. */
export class LiveSockets {
  readonly #perAccount = new Map<AccountId, number>();
  readonly #sessions = new Set<AttachedSession>();
  #open = 0;
  #subscriptions = 0;

  constructor(readonly limits: LiveSocketLimits = LIVE_SOCKET_LIMITS) {}

  get open(): number {
    return this.#open;
  }

  /** Subscriptions to projects, counted for each socket. */
  get subscriptions(): number {
    return this.#subscriptions;
  }

  /** Throws a 429 if one more socket of `account` is too many. */
  refuseTooMany(account: AccountId): void {
    if ((this.#perAccount.get(account) ?? 0) >= this.limits.perAccount) {
      throw new RateLimited("this account has too many live sockets: close some", RETRY_AFTER_S);
    }
    if (this.#open >= this.limits.total) {
      throw new RateLimited("too many live sockets are open: try again later", RETRY_AFTER_S);
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

  /** Makes the open sockets of these accounts check their tokens now, or all without any named. */
  recheck(accounts?: ReadonlySet<AccountId>): void {
    for (const session of [...this.#sessions]) {
      if (!accounts || accounts.has(session.account)) session.recheck();
    }
  }

  /** Closes the open sockets of an account, or all without one. */
  end(account: AccountId | undefined, reason: string): void {
    for (const session of [...this.#sessions]) {
      if (account === undefined || session.account === account) session.end(reason);
    }
  }

  /** Returns how to stop. */
  attach(session: AttachedSession): () => void {
    this.#sessions.add(session);
    return () => {
      this.#sessions.delete(session);
    };
  }

  /** A socket's number of subscriptions changed by `change`. */
  addSubscriptions(change: number): void {
    this.#subscriptions += change;
  }
}
