import type { Urgency } from "./budget.ts";
import type { SyncUnit } from "./sync-units.ts";

/** Calls about one unit keep at least this distance, so that fast writes share one. */
export const CALL_DISTANCE_MS = 1000;

/** What has come to be followed waits so long for more to go by one call, and at most. */
const GATHER_MS = 500;
const GATHER_MS_MAX = 5000;

/** Backoff: full jitter over a span that doubles with each failure. */
const BACKOFF_FIRST_MS = 1000;
const BACKOFF_MS_MAX = 60_000;

interface UnitState {
  /** What it is due for; undefined when it is not. */
  readonly due: Urgency | undefined;
  /** What it was due for when the last call about it began. */
  readonly called: Urgency | undefined;
  /** In which order units became due. */
  readonly turn: number;
  readonly notBefore: number;
  readonly failures: number;
}

const IDLE: UnitState = { due: undefined, called: undefined, turn: 0, notBefore: 0, failures: 0 };

/** The most urgent first. */
const ORDER: readonly Urgency[] = ["person", "change", "ask"];

/** When the account's requests allow a call, on the schedule's clock. */
export type Allowance = (urgency: Urgency) => number;

const NO_LIMIT: Allowance = () => 0;

/** What to do now: call about a unit, wait until a time, or wait for something to happen. */
export type NextStep =
  | { readonly kind: "call"; readonly unit: SyncUnit; readonly urgency: Urgency }
  /** `held`: but for the account's requests it would go now. */
  | { readonly kind: "wait"; readonly until: number; readonly held: boolean }
  | { readonly kind: "idle" };

/**
 * Decides what is called when. Pure but for its own state: time (milliseconds of any steady clock)
 * and randomness (a fraction in [0, 1)) come with each event. One unit's failure never delays
 * another; the service's delays all.
 */
export class SyncSchedule {
  readonly #units = new Map<SyncUnit, UnitState>();
  /** Units that have come and wait for more, and since when the first of them does. */
  readonly #gathering = new Set<SyncUnit>();
  #gatheringSince = 0;
  #turn = 0;
  #serviceNotBefore = 0;
  #serviceFailures = 0;
  /** The service asked to be left alone until then; nobody's hurry changes that. */
  #askedToWaitUntil = 0;

  /** Something is to be sent or fetched; what was due for more stays so. */
  markDue(unit: SyncUnit, urgency: Urgency = "change"): void {
    const state = this.#get(unit);
    const turn = state.due === undefined ? ++this.#turn : state.turn;
    this.#units.set(unit, { ...state, due: moreUrgent(state.due, urgency), turn });
  }

  /** These have come to be followed: they are due, once no more have come for a moment. */
  gather(units: readonly SyncUnit[], now: number): void {
    if (this.#gathering.size === 0) this.#gatheringSince = now;
    for (const unit of units) {
      this.markDue(unit);
      this.#gathering.add(unit);
    }
    const notBefore = Math.min(now + GATHER_MS, this.#gatheringSince + GATHER_MS_MAX);
    for (const unit of this.#gathering) this.#units.set(unit, { ...this.#get(unit), notBefore });
  }

  isDue(unit: SyncUnit): boolean {
    return this.#get(unit).due !== undefined;
  }

  forget(unit: SyncUnit): void {
    this.#gathering.delete(unit);
    this.#units.delete(unit);
  }

  /** A person waits: what is due goes at once, and backoff is over. */
  hurry(): void {
    this.#gathering.clear();
    this.serviceIsBack();
  }

  /** The same, but for what waits for more to come. */
  serviceIsBack(): void {
    this.#serviceNotBefore = 0;
    this.#serviceFailures = 0;
    for (const [unit, state] of this.#units) {
      if (!this.#gathering.has(unit)) this.#units.set(unit, { ...state, notBefore: 0 });
    }
  }

  /** Of what may be called, the most urgent goes first, and of that what has waited longest. */
  next(now: number, allowedAt: Allowance = NO_LIMIT): NextStep {
    const waiting: Waiting[] = [];
    for (const [unit, { due, turn, notBefore }] of this.#units) {
      if (due === undefined) continue;
      const ownAt = Math.max(now, notBefore, this.#serviceNotBefore, this.#askedToWaitUntil);
      const at = Math.max(ownAt, allowedAt(due));
      waiting.push({ unit, urgency: due, turn, ownAt, at });
    }
    const first = waiting.sort(soonestFirst)[0];
    if (first === undefined) return { kind: "idle" };
    const { unit, urgency, at } = first;
    if (at <= now) return { kind: "call", unit, urgency };
    const isHeld = (each: Waiting) => each.ownAt <= now && each.urgency !== "ask";
    return { kind: "wait", until: at, held: waiting.some(isHeld) };
  }

  /**
   * What a call may be about as well that goes now, the most urgent first: what is due, be its last
   * call less than a second ago, for this costs no request. What is refused waits on.
   */
  along(now: number): SyncUnit[] {
    const due = [...this.#units].filter(([, { due, failures, notBefore }]) => {
      return due !== undefined && (failures === 0 || notBefore <= now);
    });
    const urgency = ({ due }: UnitState) => ORDER.indexOf(due ?? "ask");
    due.sort(([, one], [, other]) => urgency(one) - urgency(other) || one.turn - other.turn);
    return due.map(([unit]) => unit);
  }

  /** A call about the unit begins; what happens from now on makes it due again. */
  began(unit: SyncUnit): void {
    const state = this.#get(unit);
    this.#gathering.delete(unit);
    this.#units.set(unit, { ...state, due: undefined, called: state.due });
  }

  /** The call did not come to the unit: it is as due as before. */
  leftOut(unit: SyncUnit): void {
    this.markDue(unit, this.#get(unit).called);
  }

  /** The clock stood still for so long while time went on. */
  slept(milliseconds: number): void {
    this.#askedToWaitUntil -= milliseconds;
  }

  /** `again`: there is more to send. It goes at once, for it has waited already. */
  succeeded(unit: SyncUnit, now: number, again: boolean): void {
    this.#serviceFailures = 0;
    this.#serviceNotBefore = 0;
    const notBefore = again ? now : now + CALL_DISTANCE_MS;
    this.#units.set(unit, { ...this.#get(unit), notBefore, failures: 0 });
    if (again) this.markDue(unit);
  }

  /** The service refused this unit's call; the others go on. */
  unitFailed(unit: SyncUnit, now: number, fraction: number): void {
    this.#serviceFailures = 0;
    const failures = this.#get(unit).failures + 1;
    const notBefore = now + backoffMs(failures, fraction);
    this.#units.set(unit, { ...this.#get(unit), notBefore, failures });
    this.markDue(unit);
  }

  /** The service did not answer, or asked to be left alone for `retryAfterMs`. */
  serviceFailed(
    unit: SyncUnit,
    now: number,
    {
      retryAfterMs,
      fraction,
    }: { readonly retryAfterMs: number | undefined; readonly fraction: number },
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

interface Waiting {
  readonly unit: SyncUnit;
  readonly urgency: Urgency;
  readonly turn: number;
  /** When it would go if requests were not counted, and when it may. */
  readonly ownAt: number;
  readonly at: number;
}

function soonestFirst(one: Waiting, other: Waiting): number {
  const urgency = ORDER.indexOf(one.urgency) - ORDER.indexOf(other.urgency);
  return one.at - other.at || urgency || one.turn - other.turn;
}

function moreUrgent(one: Urgency | undefined, other: Urgency): Urgency {
  return one !== undefined && ORDER.indexOf(one) < ORDER.indexOf(other) ? one : other;
}

/** Delay before the retry after `failures` failures in a row, in milliseconds. */
export function backoffMs(failures: number, fraction: number): number {
  const span = Math.min(BACKOFF_MS_MAX, BACKOFF_FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round(span * fraction);
}
