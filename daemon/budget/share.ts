import type { QuotaWindow } from "./quota-window.ts";

const MINUTE_MS = 60_000;
/** The share is reckoned anew after this time. */
const STEP_MS = MINUTE_MS;
/** A new machine starts with this share. It grows soon if the account has room. */
const SHARE_FIRST = 0.25;
/** The least share. With more machines than it allows for, the pace falls as less is left. */
const SHARE_MIN = 1 / 20;
/** What every machine adds in each step: it makes unequal shares equal over time. */
const ADDED = 0.01;
const GROWTH_PER_STEP_MAX = 1.25;
const LOSS_PER_STEP_MAX = 0.5;
/** If no answer tells what others use, a share grows once in this time. */
const UNSEEN_STEP_MS = 10 * MINUTE_MS;
const HALVED_AGAIN_MS = 10_000;

/** A share as it is stored. */
export interface ShareRecord {
  readonly share: number;
  readonly changedAt: number;
}

/**
 * This machine's share of the account's pace. Answers tell what all machines together have used.
 * Each machine compares that with the pace and scales its share by the same factor; then each adds
 * the same constant, so shares become equal (Chiu and Jain 1989, with the excess itself instead of
 * one bit). A refusal halves the share.
 */
export class Share {
  #share: number;
  #changedAt: number;
  #halvedAt = Number.NEGATIVE_INFINITY;
  #anchor:
    | { readonly at: number; readonly remaining: number; readonly limit: number | undefined }
    | undefined;
  #wasThrottled = false;
  /** This machine's requests in the current step. */
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

  /** A call had to wait for the budget. */
  throttled(): void {
    this.#wasThrottled = true;
  }

  /**
   * An answer told of `window`, the one that paces the account. `pacePerMs` is the account's pace.
   */
  told({ quota, toldAt }: QuotaWindow, pacePerMs: number): void {
    const { remaining, limit } = quota;
    const anchor = this.#anchor;
    // A smaller plan has less left, although nobody used it.
    if (!anchor || remaining > anchor.remaining || limit !== anchor.limit) {
      this.#begin(toldAt, quota);
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
      // While saved requests hide the limit, the share does not fall below this machine's part of
      // the use.
      const part = this.#wasThrottled ? 0 : Math.min(this.#share, this.#own / used);
      this.#set(Math.max(less, part));
    }
    this.#changedAt = toldAt;
    this.#begin(toldAt, quota);
  }

  #begin(at: number, { remaining, limit }: QuotaWindow["quota"]): void {
    this.#anchor = { at, remaining, limit };
    this.#wasThrottled = false;
    this.#own = 0;
  }

  /** An answer came that tells nothing of what the account used. */
  answeredUnseen(now: number): void {
    const steps = Math.floor((now - this.#changedAt) / UNSEEN_STEP_MS);
    if (steps <= 0) return;
    this.#set(this.#share + steps * ADDED);
    this.#changedAt = now;
  }

  /**
   * The service refused a request: all machines together made too many. `part` is this machine's
   * part.
   */
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
