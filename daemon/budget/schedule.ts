import { LIMITS } from "../../shared/limits.ts";
import type { Urgency } from "./budget.ts";
import type { SyncUnit } from "./sync-units.ts";

/** Two calls about one unit are at least this far apart, so that quick writes share a call. */
export const CALL_DISTANCE_MS = 1000;

/** A unit that was just linked waits this long for more, so that one call carries all of them. */
const GATHER_MS = 500;
/** Each further unit begins that wait anew. The first one waits for no longer than this. */
const GATHER_MS_MAX = 5000;
/** More are known to be on their way: the next one may take this long, for a busy machine. */
const NEXT_MS_MAX = 10_000;
/** And the last one this long, counted from the first. */
const GATHER_ON_MS_MAX = 120_000;

/** Backoff: full jitter over a span that doubles with each failure. */
const BACKOFF_FIRST_MS = 1000;
const BACKOFF_MS_MAX = 60_000;

interface UnitState {
  /** Why a call is due; undefined: none is. */
  readonly due: Urgency | undefined;
  /** Why the last call was made, for a call that did not reach the unit. */
  readonly called: Urgency | undefined;
  /** Units go in the order in which they became due. */
  readonly dueOrder: number;
  readonly notBefore: number;
  readonly failures: number;
}

const IDLE: UnitState = {
  due: undefined,
  called: undefined,
  dueOrder: 0,
  notBefore: 0,
  failures: 0,
};

/** The most urgent first: of several reasons for one call the first counts. */
const ORDER: readonly Urgency[] = ["person", "edit", "change", "retry", "ask"];
/** Which calls go first. Those of one rank take turns, so that none waits for ever. */
const RANK: Readonly<Record<Urgency, number>> = { person: 0, edit: 1, change: 1, retry: 1, ask: 2 };

/** When the account's budget allows a call, by the schedule's clock. */
export type Allowance = (urgency: Urgency) => number;

const NO_LIMIT: Allowance = () => 0;

/** What to do now: call about a unit, wait until a time, or wait for an event. */
export type NextStep =
  | { readonly kind: "call"; readonly unit: SyncUnit; readonly urgency: Urgency }
  /** `throttled`: the budget is the only reason to wait. */
  | { readonly kind: "wait"; readonly until: number; readonly throttled: boolean }
  | { readonly kind: "idle" };

/**
 * Decides when which unit is called about. Pure but for its own state: time (milliseconds of any
 * steady clock) and randomness (a fraction in [0, 1)) come with each event. One unit's failure
 * delays no other unit; a failure of the service delays all.
 *
 * ```
 * const schedule = new SyncSchedule();
 * schedule.markDue("own");
 * schedule.next(now); // { kind: "call", unit: "own", urgency: "change" }
 * schedule.began("own");
 * schedule.succeeded("own", now, false);
 * ```
 */
export class SyncSchedule {
  readonly #units = new Map<SyncUnit, UnitState>();
  /** New units that wait for more to come. */
  readonly #gathering = new Set<SyncUnit>();
  /** When the first and the last of them came, and until when they wait. */
  #gathersSince = 0;
  #gatheredAt = 0;
  #gathersUntil = 0;
  #dueOrder = 0;
  #serviceNotBefore = 0;
  #serviceFailures = 0;
  /** Set by `Retry-After`. No hurry shortens it. */
  #askedToWaitUntil = 0;

  /**
   * The unit has something to send or to fetch. A more urgent reason that it has already stays. An
   * edit waits for no new units.
   */
  markDue(unit: SyncUnit, urgency: Urgency = "change"): void {
    if (urgency === "edit") this.#gathering.delete(unit);
    const state = this.#get(unit);
    const dueOrder = state.due === undefined ? ++this.#dueOrder : state.dueOrder;
    this.#units.set(unit, { ...state, due: moreUrgent(state.due, urgency), dueOrder });
  }

  /** New units: due once no further ones have come for a moment, or they fill a call. */
  gather(units: readonly SyncUnit[], now: number): void {
    if (this.#gathering.size === 0) this.#gathersSince = now;
    for (const unit of units) {
      this.markDue(unit);
      this.#gathering.add(unit);
    }
    this.#gatheredAt = now;
    this.#gathersUntil = Math.min(now + GATHER_MS, this.#gathersSince + GATHER_MS_MAX);
  }

  /** Further new units are on their way: those that have come wait on, each time for a moment. */
  gatherOn(now: number): void {
    const nextUntil = Math.min(now + GATHER_MS, this.#gatheredAt + NEXT_MS_MAX);
    this.#gathersUntil = Math.min(nextUntil, this.#gathersSince + GATHER_ON_MS_MAX);
  }

  get isGathering(): boolean {
    return this.#gathering.size > 0;
  }

  /** What is due but for asking, and the most urgent reason among them. */
  waiting(): { readonly units: readonly SyncUnit[]; readonly urgency: Exclude<Urgency, "ask"> } {
    const units: SyncUnit[] = [];
    let most: Exclude<Urgency, "ask"> = "retry";
    for (const [unit, { due }] of this.#units) {
      if (due === undefined || due === "ask") continue;
      units.push(unit);
      if (moreUrgent(most, due) === due) most = due;
    }
    return { units, urgency: most };
  }

  isDue(unit: SyncUnit): boolean {
    return this.#get(unit).due !== undefined;
  }

  forget(unit: SyncUnit): void {
    this.#gathering.delete(unit);
    this.#units.delete(unit);
  }

  /** When a service that failed is called again, as far as no person hurries. */
  get pausedUntil(): number {
    return Math.max(this.#serviceNotBefore, this.#askedToWaitUntil);
  }

  /** A person waits: backoff is over, and what is due goes at once. */
  hurry(): void {
    this.#gathering.clear();
    this.serviceIsBack();
  }

  /** Backoff is over. New units still wait for more to come. */
  serviceIsBack(): void {
    this.#serviceNotBefore = 0;
    this.#serviceFailures = 0;
    for (const [unit, state] of this.#units) this.#units.set(unit, { ...state, notBefore: 0 });
  }

  /**
   * The next call: the most urgent unit that may go, and among equals the one that waited longest.
   */
  next(now: number, allowedAt: Allowance = NO_LIMIT): NextStep {
    const waiting: Waiting[] = [];
    const isFull = this.#gathering.size >= LIMITS.projectsPerExchange;
    const serviceAt = this.pausedUntil;
    for (const [unit, { due, dueOrder, notBefore }] of this.#units) {
      if (due === undefined) continue;
      const gathersUntil = this.#gathering.has(unit) && !isFull ? this.#gathersUntil : 0;
      const ownAt = Math.max(now, notBefore, gathersUntil, serviceAt);
      const at = Math.max(ownAt, allowedAt(due));
      waiting.push({ unit, urgency: due, dueOrder, ownAt, at });
    }
    const first = waiting.sort(soonestFirst)[0];
    if (first === undefined) return { kind: "idle" };
    const { unit, urgency, at } = first;
    if (at <= now) return { kind: "call", unit, urgency };
    // Also what gathers or backs off for a moment yet: nobody asks again when that is over.
    const isThrottled = (each: Waiting) => each.at > each.ownAt && each.urgency !== "ask";
    return { kind: "wait", until: at, throttled: waiting.some(isThrottled) };
  }

  /**
   * Further units for a call that goes now, the most urgent first. They cost no request, so the
   * distance between calls does not count. A unit whose last call was refused still waits.
   */
  along(now: number): SyncUnit[] {
    const due = [...this.#units].filter(([, { due, failures, notBefore }]) => {
      return due !== undefined && (failures === 0 || notBefore <= now);
    });
    const rank = ({ due }: UnitState) => RANK[due ?? "ask"];
    due.sort(([, one], [, other]) => rank(one) - rank(other) || one.dueOrder - other.dueOrder);
    return due.map(([unit]) => unit);
  }

  /** A call about the unit begins. What happens from now on makes the unit due again. */
  began(unit: SyncUnit): void {
    const state = this.#get(unit);
    this.#gathering.delete(unit);
    this.#units.set(unit, { ...state, due: undefined, called: state.due });
  }

  /** The call did not get to the unit, which is due for the same reason again. */
  leftOut(unit: SyncUnit): void {
    this.markDue(unit, this.#get(unit).called);
  }

  /** The steady clock stood still for this long while real time went on. */
  slept(milliseconds: number): void {
    this.#askedToWaitUntil -= milliseconds;
  }

  /** `again`: there is more to send. It goes at once, because it has waited already. */
  succeeded(unit: SyncUnit, now: number, again: boolean): void {
    this.#serviceFailures = 0;
    this.#serviceNotBefore = 0;
    const notBefore = again ? now : now + CALL_DISTANCE_MS;
    this.#units.set(unit, { ...this.#get(unit), notBefore, failures: 0 });
    if (again) this.markDue(unit, this.#get(unit).called === "edit" ? "edit" : "change");
  }

  /** The service refused this unit's call. Other units go on. */
  unitFailed(unit: SyncUnit, now: number, fraction: number): void {
    this.#serviceFailures = 0;
    const failures = this.#get(unit).failures + 1;
    const notBefore = now + backoffMs(failures, fraction);
    this.#units.set(unit, { ...this.#get(unit), notBefore, failures });
    this.markDue(unit, "retry");
  }

  /** The service did not answer, or asked for a pause of `retryAfterMs`. */
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
  readonly dueOrder: number;
  /** `ownAt`: when it could go without a budget. `at`: when it may. */
  readonly ownAt: number;
  readonly at: number;
}

function soonestFirst(one: Waiting, other: Waiting): number {
  const rank = RANK[one.urgency] - RANK[other.urgency];
  return one.at - other.at || rank || one.dueOrder - other.dueOrder;
}

function moreUrgent(one: Urgency | undefined, other: Urgency): Urgency {
  return one !== undefined && ORDER.indexOf(one) < ORDER.indexOf(other) ? one : other;
}

/** Delay before the retry after `failures` failures in a row, in milliseconds. */
export function backoffMs(failures: number, fraction: number): number {
  const span = Math.min(BACKOFF_MS_MAX, BACKOFF_FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round(span * fraction);
}
