// The live socket's life, without any socket: what happens to it decides what is done next.
//
//             due                opened              subscribed
//   waiting ───────▶ opening ─────────────▶ open ─────────────────▶ live
//      ▲                │                    │                     │    ▲
//      │                │ closed             │ closed      silent  │    │ heard
//      ├────────────────┴────────────────────┤                     ▼    │
//      │                                     │ closed             silent
//      └─────────────────────────────────────┴────────────────────────┘
//
// `paused` and `stopped` open none; `reopening` closes one and opens the next at once. The table of
// all states and events is in docs/design/sync.md, and a test holds this file to it.
import { TOKEN_INVALID } from "../../shared/wire/live.ts";
import { backoffMs } from "../budget/schedule.ts";

/** A service that went away took many sockets with it: they come back over so long. */
const RETURN_MS_MAX = 5000;
/** A service that answers calls and has refused so many handshakes in a row offers no socket. */
const NO_SOCKET_FAILURES = 8;
/** It is asked whether it does now after so long at most. */
const NO_SOCKET_MS_MAX = 60 * 60_000;

/**
 * How it stands with the socket: changes are told; the service has said nothing for longer than its
 * pings are apart; there is none over which it has answered; the service offers none, as far as can
 * be told; or it was closed for its token.
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
  /** Sockets in a row over which nothing was answered. */
  readonly failures: number;
  /** The handshake of the socket that is there has come through. */
  readonly isOpen: boolean;
}

export const LIVE_LINK_IDLE: LiveLinkState = { phase: "idle", failures: 0, isOpen: false };

/** Milliseconds until the next handshake, which is a request, may be sent. */
interface MayOpen {
  readonly waitMs: number;
}

/** The socket is gone. */
interface LiveClosed extends MayOpen {
  readonly kind: "closed";
  /** The code of the closing handshake; undefined where there was none. */
  readonly code: number | undefined;
  /** Whether the service answers calls: then it may just not have a socket to offer. */
  readonly isReachable: boolean;
  /** Random, from 0 to 1. */
  readonly fraction: number;
}

/** What happens to the link. */
export type LiveEvent =
  /** It begins, or its timer is due. */
  | ({ readonly kind: "due" } & MayOpen)
  /** Somebody waits: now, instead of at the end of the backoff, which begins anew. */
  | ({ readonly kind: "hurry" } & MayOpen)
  /** Calls come through again, so the socket may, too. */
  | ({ readonly kind: "answered" } & MayOpen)
  /** The socket that is there may lead nowhere. */
  | ({ readonly kind: "reopen" } & MayOpen)
  | ({ readonly kind: "resume" } & MayOpen)
  | { readonly kind: "pause" }
  | { readonly kind: "stop" }
  | { readonly kind: "opened" }
  /** The service has answered a subscription. */
  | { readonly kind: "subscribed" }
  | { readonly kind: "silent" }
  | { readonly kind: "heard" }
  | LiveClosed;

/** What is to be done, in order. */
export type LiveEffect =
  | { readonly kind: "open" }
  | { readonly kind: "close" }
  /** A `due` after so many milliseconds, instead of any before. */
  | { readonly kind: "wait"; readonly delayMs: number }
  /** No `due` any more. */
  | { readonly kind: "rest" }
  | { readonly kind: "subscribe" }
  /** A handshake came to nothing, as calls do now. */
  | { readonly kind: "unreached" }
  | { readonly kind: "tell"; readonly state: LiveState };

/** The state after an event, and what is to be done. */
export interface LiveStep {
  readonly state: LiveLinkState;
  readonly effects: readonly LiveEffect[];
}

const CONNECTED: readonly LivePhase[] = ["opening", "open", "live", "silent"];

/** What an event makes of the link. */
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
  const patient = { ...state, failures: 0 };
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

/** A socket that is there gives a sign. */
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
      return { state: { ...state, phase: "live", failures: 0 }, effects: tell("live") };
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
  const state: LiveLinkState = { ...before, failures, isOpen: false };
  const isOffered = !event.isReachable || failures < NO_SOCKET_FAILURES;
  const told = event.code === TOKEN_INVALID ? "refused" : isOffered ? "down" : "absent";
  const effects: LiveEffect[] = [{ kind: "tell", state: told }];
  if (!before.isOpen && !event.isReachable) effects.push({ kind: "unreached" });
  if (before.phase === "reopening") {
    const next = openOrWait({ ...state, failures: 0 }, event);
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
