import type { ProjectId } from "../../shared/ids.ts";

/** What one call to the service is about: a project, or `user` and `global` alone. */
export type SyncUnit = ProjectId | "own";

/** Calls about one unit keep at least this distance, so that fast writes share one. */
export const CALL_DISTANCE_MS = 1000;

/** Backoff: full jitter over a span that doubles with each failure. */
const BACKOFF_FIRST_MS = 1000;
const BACKOFF_MS_MAX = 60_000;

interface UnitState {
  readonly due: boolean;
  readonly notBefore: number;
  readonly failures: number;
}

const IDLE: UnitState = { due: false, notBefore: 0, failures: 0 };

/** What to do now: call about a unit, wait until a time, or wait for something to happen. */
export type NextStep =
  | { readonly kind: "call"; readonly unit: SyncUnit }
  | { readonly kind: "wait"; readonly until: number }
  | { readonly kind: "idle" };

/**
 * Decides what is called when. Pure but for its own state: time (milliseconds of any steady clock)
 * and randomness (a fraction in [0, 1)) come with each event. One unit's failure never delays
 * another; the service's delays all.
 */
export class SyncSchedule {
  readonly #units = new Map<SyncUnit, UnitState>();
  #serviceNotBefore = 0;
  #serviceFailures = 0;
  /** The service asked to be left alone until then; nobody's hurry changes that. */
  #askedToWaitUntil = 0;

  /** Something is to be sent or fetched. */
  markDue(unit: SyncUnit): void {
    this.#units.set(unit, { ...this.#get(unit), due: true });
  }

  isDue(unit: SyncUnit): boolean {
    return this.#get(unit).due;
  }

  forget(unit: SyncUnit): void {
    this.#units.delete(unit);
  }

  /** A person waits, or the service is back: what is due goes at once, and backoff is over. */
  hurry(): void {
    this.#serviceNotBefore = 0;
    this.#serviceFailures = 0;
    for (const [unit, state] of this.#units) this.#units.set(unit, { ...state, notBefore: 0 });
  }

  /** The unit that has waited longest is called first. */
  next(now: number): NextStep {
    let first: { unit: SyncUnit; at: number } | undefined;
    for (const [unit, { due, notBefore }] of this.#units) {
      const at = Math.max(notBefore, this.#serviceNotBefore, this.#askedToWaitUntil);
      if (due && (first === undefined || at < first.at)) first = { unit, at };
    }
    if (first === undefined) return { kind: "idle" };
    return first.at <= now ? { kind: "call", unit: first.unit } : { kind: "wait", until: first.at };
  }

  /** A call about the unit begins; what happens from now on makes it due again. */
  began(unit: SyncUnit): void {
    this.#units.set(unit, { ...this.#get(unit), due: false });
  }

  /** `again`: there is more to send. It goes at once, for it has waited already. */
  succeeded(unit: SyncUnit, now: number, again: boolean): void {
    this.#serviceFailures = 0;
    this.#serviceNotBefore = 0;
    const { due } = this.#get(unit);
    const notBefore = again ? now : now + CALL_DISTANCE_MS;
    this.#units.set(unit, { due: due || again, notBefore, failures: 0 });
  }

  /** The service refused this unit's call; the others go on. */
  unitFailed(unit: SyncUnit, now: number, fraction: number): void {
    this.#serviceFailures = 0;
    const failures = this.#get(unit).failures + 1;
    const notBefore = now + backoffMs(failures, fraction);
    this.#units.set(unit, { due: true, notBefore, failures });
  }

  /** The service did not answer, or asked to be left alone for `retryAfterMs`. */
  serviceFailed(
    unit: SyncUnit,
    now: number,
    retryAfterMs: number | undefined,
    fraction: number,
  ): void {
    this.markDue(unit);
    this.#serviceFailures += 1;
    const backoff = backoffMs(this.#serviceFailures, fraction);
    this.#serviceNotBefore = now + backoff;
    this.#askedToWaitUntil = now + (retryAfterMs ?? 0);
  }

  #get(unit: SyncUnit): UnitState {
    return this.#units.get(unit) ?? IDLE;
  }
}

/** Delay before the retry after `failures` failures in a row, in milliseconds. */
export function backoffMs(failures: number, fraction: number): number {
  const span = Math.min(BACKOFF_MS_MAX, BACKOFF_FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round(span * fraction);
}
