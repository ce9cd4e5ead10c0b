// The live socket's life, without any socket: what happens to it decides what is done next.
//
//   waiting ──due, hurry, answered, reopen or resume──▶ opening ──opened──▶ open
//
//   open ──subscribed──▶ live ──silent──▶ silent ──heard──▶ live
//
//   opening ─┐
//   open ────┼─closed─▶ waiting
//   live ────┤
//   silent ──┘
//
// `paused` and `stopped` open none; `reopening` closes one and opens the next at once. The table of
// all states and events is in docs/design/sync.md, and a test holds this file to it.
import { TOKEN_INVALID } from "../../shared/wire/live.ts";
import { backoffMs } from "../budget/schedule.ts";

/** After a service went away, the many sockets that it had return spread over this time. */
const RETURN_MS_MAX = 5000;
/** A service that answers calls but refused this many handshakes in a row offers no socket. */
const NO_SOCKET_REFUSALS = 8;
/** Such a service is tried again after this time at most. */
const NO_SOCKET_MS_MAX = 60 * 60_000;

/**
 * The state of the socket, for the engine. `live`: changes are told. `silent`: nothing came for
 * longer than the service's pings are apart. `down`: no subscription was answered on it. `absent`:
 * the service seems to offer no socket. `refused`: it was closed because of the token.
 */
export type LiveState = "live" | "silent" | "down" | "absent" | "refused";

/**
 * - `idle`: not begun.
 * - `waiting`: a timer opens the next socket.
 * - `opening`: the handshake is on its way.
 * - `open`: the service has answered no subscription on it yet.
 * - `live`: it has.
 * - `silent`: it has, and nothing came for longer than its pings are apart.
 * - `reopening`: the socket is being closed, for another one.
 * - `paused`: none is opened until it goes on.
 * - `stopped`: none is opened any more.
 */
export type LivePhase = (typeof LIVE_PHASES)[number];

export const LIVE_PHASES = [
  "idle",
  "waiting",
  "opening",
  "open",
  "live",
  "silent",
  "reopening",
  "paused",
  "stopped",
] as const;

/** What the link knows of its socket. */
export interface LiveLinkState {
  readonly phase: LivePhase;
  /** How many sockets in a row brought no answer. */
  readonly failures: number;
  /** How many of the latest of them failed although the service answers calls. */
  readonly refusals: number;
  /** The current socket's handshake succeeded. */
  readonly isOpen: boolean;
}

export const LIVE_LINK_IDLE: LiveLinkState = {
  phase: "idle",
  failures: 0,
  refusals: 0,
  isOpen: false,
};

/** Milliseconds until the next handshake, which counts as a request, may be sent. */
interface MayOpen {
  readonly waitMs: number;
}

/** The socket is closed. */
interface LiveClosed extends MayOpen {
  readonly kind: "closed";
  /** The code of the closing handshake; undefined where there was none. */
  readonly code: number | undefined;
  /** Whether the service answers calls. If so, it may only have no socket to offer. */
  readonly isReachable: boolean;
  /** Random, from 0 to 1. */
  readonly fraction: number;
}

/** Events of the link. */
export type LiveEvent =
  /** It starts, or its timer is due. */
  | ({ readonly kind: "due" } & MayOpen)
  /** Somebody waits: try now, and start the backoff from its beginning. */
  | ({ readonly kind: "hurry" } & MayOpen)
  /** Calls succeed again, so the socket may, too. */
  | ({ readonly kind: "answered" } & MayOpen)
  /** The current socket may be dead. */
  | ({ readonly kind: "reopen" } & MayOpen)
  | ({ readonly kind: "resume" } & MayOpen)
  | { readonly kind: "pause" }
  | { readonly kind: "stop" }
  | { readonly kind: "opened" }
  /** The service answered a subscription. */
  | { readonly kind: "subscribed" }
  | { readonly kind: "silent" }
  | { readonly kind: "heard" }
  | LiveClosed;

/** What to do, in this order. */
export type LiveEffect =
  | { readonly kind: "open" }
  | { readonly kind: "close" }
  /** Cause `due` after this time; replaces any earlier timer. */
  | { readonly kind: "wait"; readonly delayMs: number }
  /** Cancel the timer. */
  | { readonly kind: "rest" }
  | { readonly kind: "subscribe" }
  /** A handshake failed because there was no connection. */
  | { readonly kind: "unreached" }
  | { readonly kind: "tell"; readonly state: LiveState };

/** The state after an event, and what to do. */
export interface LiveStep {
  readonly state: LiveLinkState;
  readonly effects: readonly LiveEffect[];
}

const CONNECTED: readonly LivePhase[] = ["opening", "open", "live", "silent"];

/** The state after an event, and what to do. */
export function stepLive(state: LiveLinkState, event: LiveEvent): LiveStep {
  switch (event.kind) {
    case "due":
      return isFree(state) ? openOrWait(state, event) : unchanged(state);
    case "answered":
      return isFree(state) && state.failures > 0 ? openOrWait(state, event) : unchanged(state);
    case "hurry":
      return hurried(state, event);
    case "resume":
      return hurried(state.phase === "paused" ? { ...state, phase: "idle" } : state, event);
    case "reopen":
      if (!isConnected(state)) return hurried(state, event);
      return { state: { ...state, phase: "reopening" }, effects: [{ kind: "close" }] };
    case "pause":
      return state.phase === "stopped" ? unchanged(state) : ended(state, "paused");
    case "stop":
      return ended(state, "stopped");
    case "closed":
      return closed(state, event);
    default:
      return isConnected(state) ? signed(state, event.kind) : unchanged(state);
  }
}

function isFree({ phase }: LiveLinkState): boolean {
  return phase === "idle" || phase === "waiting";
}

function isConnected({ phase }: LiveLinkState): boolean {
  return CONNECTED.includes(phase);
}

function unchanged(state: LiveLinkState): LiveStep {
  return { state, effects: [] };
}

function hurried(state: LiveLinkState, event: MayOpen): LiveStep {
  const patient = { ...state, failures: 0, refusals: 0 };
  return isFree(state) ? openOrWait(patient, event) : unchanged(patient);
}

function openOrWait(state: LiveLinkState, { waitMs }: MayOpen): LiveStep {
  if (waitMs <= 0) {
    return { state: { ...state, phase: "opening" }, effects: [{ kind: "rest" }, { kind: "open" }] };
  }
  const delayMs = Math.min(waitMs, NO_SOCKET_MS_MAX);
  return { state: { ...state, phase: "waiting" }, effects: [{ kind: "wait", delayMs }] };
}

function ended(state: LiveLinkState, phase: "paused" | "stopped"): LiveStep {
  return { state: { ...state, phase }, effects: [{ kind: "rest" }, { kind: "close" }] };
}

/** A sign from the current socket. */
function signed(
  state: LiveLinkState,
  sign: "opened" | "subscribed" | "silent" | "heard",
): LiveStep {
  const { phase } = state;
  const tell = (told: LiveState) => [{ kind: "tell", state: told }] as const;
  switch (sign) {
    case "opened":
      if (state.isOpen) return unchanged(state);
      return {
        state: { ...state, phase: "open", isOpen: true },
        effects: [{ kind: "subscribe" }],
      };
    case "subscribed":
      if (phase === "live" || phase === "silent") return unchanged(state);
      return {
        state: { ...state, phase: "live", failures: 0, refusals: 0 },
        effects: tell("live"),
      };
    case "silent":
      return {
        state: { ...state, phase: phase === "live" ? "silent" : phase },
        effects: tell("silent"),
      };
    case "heard":
      if (phase !== "silent") return unchanged(state);
      return { state: { ...state, phase: "live" }, effects: tell("live") };
  }
}

function closed(before: LiveLinkState, event: LiveClosed): LiveStep {
  const failures = before.failures + 1;
  // What failed while nothing answered says nothing of what the service offers.
  const refusals = event.isReachable ? before.refusals + 1 : 0;
  const state: LiveLinkState = { ...before, failures, refusals, isOpen: false };
  const isOffered = refusals < NO_SOCKET_REFUSALS;
  const told = event.code === TOKEN_INVALID ? "refused" : isOffered ? "down" : "absent";
  const effects: LiveEffect[] = [{ kind: "tell", state: told }];
  if (!before.isOpen && !event.isReachable) effects.push({ kind: "unreached" });
  if (before.phase === "reopening") {
    const next = openOrWait({ ...state, failures: 0, refusals: 0 }, event);
    return { state: next.state, effects: [...effects, ...next.effects] };
  }
  if (!isConnected(before)) return { state, effects };
  const wasLive = before.phase === "live" || before.phase === "silent";
  const delayMs = wasLive
    ? RETURN_MS_MAX * event.fraction
    : isOffered
      ? backoffMs(failures, event.fraction)
      : NO_SOCKET_MS_MAX * (1 - event.fraction / 2);
  return {
    state: { ...state, phase: "waiting" },
    effects: [...effects, { kind: "wait", delayMs }],
  };
}
