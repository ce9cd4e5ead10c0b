import type { QuotaWindow } from "./quota-window.ts";

const MINUTE_MS = 60_000;
/** How long requests are counted before the share is set anew. */
const STEP_MS = MINUTE_MS;
/** A machine that nobody knows yet begins with so much, and has more soon when nobody objects. */
const SHARE_FIRST = 0.25;
/** With more machines than this makes room for, the pace is kept by what is left growing less. */
const SHARE_MIN = 1 / 20;
/** Added in each step by all: what makes unequal shares equal in the end. */
const ADDED = 0.01;
const GROWTH_PER_STEP_MAX = 1.25;
const LOSS_PER_STEP_MAX = 0.5;
/** Without a word on what others use, a share grows as slowly as this. */
const UNSEEN_STEP_MS = 10 * MINUTE_MS;
const HALVED_AGAIN_MS = 10_000;

/** A share as it is kept over a restart. */
export interface ShareRecord {
  readonly share: number;
  readonly changedAt: number;
}

/**
 * This machine's part of the account's pace. Every answer tells what all of the account's machines
 * have used, so each compares that with the pace, and all give way by the same factor; what each
 * then adds is the same amount, so that parts become equal (Chiu and Jain 1989, with the excess
 * itself instead of one bit). A refusal halves the part.
 */
export class Share {
  #share: number;
  #changedAt: number;
  #halvedAt = Number.NEGATIVE_INFINITY;
  #anchor: { readonly at: number; readonly remaining: number } | undefined;
  #wasHeld = false;
  /** Own requests in this step. */
  #own = 0;

  constructor(known: ShareRecord | undefined, now: number) {
    this.#share = clamp(known?.share ?? SHARE_FIRST);
    this.#changedAt = Math.min(now, known?.changedAt ?? now);
  }

  /** Between nothing and 1. */
  get value(): number {
    return this.#share;
  }

  /** A request goes out. */
  sent(): void {
    this.#own += 1;
  }

  /** Something had to wait for its turn. */
  held(): void {
    this.#wasHeld = true;
  }

  /** An answer has told of `window`, which all are paced by; `pacePerMs` is of the account. */
  told({ quota, toldAt }: QuotaWindow, pacePerMs: number): void {
    const { remaining } = quota;
    const anchor = this.#anchor;
    if (!anchor || remaining > anchor.remaining) {
      this.#begin(toldAt, remaining);
      return;
    }
    if (toldAt - anchor.at < STEP_MS) return;
    const spanMs = toldAt - anchor.at;
    const used = anchor.remaining - remaining;
    const wanted = used > 0 ? (pacePerMs * spanMs) / used : Number.POSITIVE_INFINITY;
    if (wanted >= 1) {
      this.#set(this.#share * Math.min(wanted, GROWTH_PER_STEP_MAX ** (spanMs / STEP_MS)) + ADDED);
    } else {
      const less = this.#share * Math.max(wanted, LOSS_PER_STEP_MAX) + ADDED;
      // What does not bind yet, for calls were saved, is not driven below its part of the use.
      const part = this.#wasHeld ? 0 : Math.min(this.#share, this.#own / used);
      this.#set(Math.max(less, part));
    }
    this.#changedAt = toldAt;
    this.#begin(toldAt, remaining);
  }

  #begin(at: number, remaining: number): void {
    this.#anchor = { at, remaining };
    this.#wasHeld = false;
    this.#own = 0;
  }

  /** An answer has told nothing of the account's use. */
  answeredUnseen(now: number): void {
    const steps = Math.floor((now - this.#changedAt) / UNSEEN_STEP_MS);
    if (steps <= 0) return;
    this.#set(this.#share + steps * ADDED);
    this.#changedAt = now;
  }

  /** The service has refused a request: too many, whosever they were. `part` was this machine's. */
  refused(now: number, part: number): void {
    if (now - this.#halvedAt < HALVED_AGAIN_MS) return;
    this.#halvedAt = now;
    this.#changedAt = now;
    this.#set(Math.min(this.#share / 2, Math.max(part, SHARE_MIN)));
  }

  record(): ShareRecord {
    return { share: this.#share, changedAt: this.#changedAt };
  }

  #set(share: number): void {
    this.#share = clamp(share);
  }
}

function clamp(share: number): number {
  return Math.min(1, Math.max(SHARE_MIN, share));
}
