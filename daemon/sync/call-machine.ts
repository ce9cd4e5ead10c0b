// The engine's calls, without any call: what is due decides what happens next.
//
//   resting ──call──▶ calling ──ended──▶ looking ──looked──▶ resting
//      │                ▲  └─ended (nothing was announced)─▶ resting
//      │        ┌──call─┘
//      └─wait─▶ waiting ──idle──▶ resting
//
// One call at a time. What a live frame announces about the units of a call under way is looked at
// after the call, which has mostly brought it. `stopped` begins no call. The table of all states
// and events is in docs/design/sync.md, and a test compares this file with it.
import type { Urgency } from "../budget/budget.ts";
import type { NextStep } from "../budget/schedule.ts";
import type { SyncUnit } from "../budget/sync-units.ts";
import type { Announced } from "./announced.ts";

/** No timer is set for longer. */
const TIMER_MS_MAX = 60 * 60_000;

/** Calls wait only because of the account's budget. Wall-clock times. */
export interface Throttled {
  readonly since: number;
  readonly until: number;
}

/**
 * - `resting`: nothing is due.
 * - `waiting`: something is due, and a timer waits for its time.
 * - `calling`: a call is under way.
 * - `looking`: a call has ended, and what was announced during it is compared with what it brought.
 * - `stopped`: no call begins any more; one may still be under way.
 */
export type CallPhase = (typeof CALL_PHASES)[number];

export const CALL_PHASES = ["resting", "waiting", "calling", "looking", "stopped"] as const;

/** What the engine knows of its calls. */
export interface CallState {
  readonly phase: CallPhase;
  /** The units of the call under way. */
  readonly units: readonly SyncUnit[];
  /** What was announced about these units since the call began. */
  readonly announced: readonly Announced[];
  /** Undefined while nothing waits for the budget. */
  readonly throttled: Throttled | undefined;
  /** When the next call is due, by the wall clock; undefined while no call waits for its time. */
  readonly until: number | undefined;
}

export const NO_CALL: CallState = {
  phase: "resting",
  units: [],
  announced: [],
  throttled: undefined,
  until: undefined,
};

/** Events of the engine's calls. */
export type CallEvent =
  /** The schedule was asked; `now` by its clock, `wall` by the wall clock. */
  | { readonly kind: "next"; readonly step: NextStep; readonly now: number; readonly wall: number }
  /** The units of the call that begins are chosen. */
  | { readonly kind: "began"; readonly units: readonly SyncUnit[] }
  /** A live frame announced something that is to be fetched. */
  | { readonly kind: "announced"; readonly announced: Announced }
  | { readonly kind: "ended" }
  | { readonly kind: "looked" }
  | { readonly kind: "stop" };

/** What to do, in this order. */
export type CallEffect =
  /** Call about this unit, and others that go along; then comes `began`, and later `ended`. */
  | { readonly kind: "call"; readonly unit: SyncUnit; readonly urgency: Urgency }
  /** Ask the schedule again after this time; replaces any earlier timer. */
  | { readonly kind: "wait"; readonly delayMs: number }
  /** Cancel the timer. */
  | { readonly kind: "rest" }
  /** Whoever waits for the calls to be over waits no more. */
  | { readonly kind: "release" }
  /** The unit is due. */
  | { readonly kind: "due"; readonly announced: Announced }
  /** Compare what was announced with what is here; then comes `looked`. */
  | { readonly kind: "look"; readonly announced: readonly Announced[] }
  /** Ask the schedule. */
  | { readonly kind: "pump" };

/** The state after an event, and what to do. */
export interface CallStep {
  readonly state: CallState;
  readonly effects: readonly CallEffect[];
}

/** Whether a call may begin, so that it is worth asking the schedule. */
export function isFree({ phase }: CallState): boolean {
  return phase === "resting" || phase === "waiting";
}

/** Takes an event. The caller carries out the effects, in their order. */
export function stepCall(state: CallState, event: CallEvent): CallStep {
  switch (event.kind) {
    case "next":
      return isFree(state) ? afterSchedule(state, event) : unchanged(state);
    case "began":
      return { state: { ...state, units: event.units }, effects: [] };
    case "announced": {
      const { announced } = event;
      if (!state.units.includes(announced.unit)) {
        return { state, effects: [{ kind: "due", announced }] };
      }
      return { state: { ...state, announced: [...state.announced, announced] }, effects: [] };
    }
    case "ended":
      return ended(state);
    case "looked":
      if (state.phase !== "looking") return unchanged(state);
      return { state: { ...state, phase: "resting" }, effects: [{ kind: "pump" }] };
    case "stop":
      return { state: { ...state, phase: "stopped" }, effects: [{ kind: "rest" }] };
  }
}

function unchanged(state: CallState): CallStep {
  return { state, effects: [] };
}

function afterSchedule(
  state: CallState,
  { step, now, wall }: Extract<CallEvent, { readonly kind: "next" }>,
): CallStep {
  const rest = { kind: "rest" } as const;
  switch (step.kind) {
    case "call": {
      const { unit, urgency } = step;
      const next = { ...state, phase: "calling", throttled: undefined, until: undefined } as const;
      return { state: next, effects: [rest, { kind: "call", unit, urgency }] };
    }
    case "wait": {
      const since = state.throttled?.since ?? wall;
      const until = wall + step.until - now;
      const throttled = step.throttled ? { since, until } : undefined;
      const delayMs = Math.min(step.until - now, TIMER_MS_MAX);
      const next = { ...state, phase: "waiting", throttled, until } as const;
      return { state: next, effects: [{ kind: "wait", delayMs }, { kind: "release" }] };
    }
    case "idle": {
      const next = { ...state, phase: "resting", throttled: undefined, until: undefined } as const;
      return { state: next, effects: [rest, { kind: "release" }] };
    }
  }
}

/** Also after `stop`: what was announced has to be recorded, or the next start would not see it. */
function ended(before: CallState): CallStep {
  const { announced } = before;
  const state: CallState = { ...before, units: [], announced: [] };
  const look = announced.length > 0;
  const effects: CallEffect[] = look ? [{ kind: "look", announced }] : [];
  if (before.phase !== "calling") return { state, effects };
  if (look) return { state: { ...state, phase: "looking" }, effects };
  return { state: { ...state, phase: "resting" }, effects: [{ kind: "pump" }] };
}
