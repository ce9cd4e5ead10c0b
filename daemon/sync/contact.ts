// How it stands with a service, without any service: what was heard of it decides.
//
//   unknown ─┐                         unknown ───┐
//   refused ─┼─reached─▶ connected     connected ─┼─token refused─▶ refused
//   busy ────┘                         busy ──────┘
//
//   unknown ─┬─unreached─▶ offline     connected ─┬─unreached or silent─▶ offline
//   busy ────┘                         refused ───┘
//
//   offline ──reached or heard──▶ connected     unknown ───┐
//      └─token refused or heard─▶ refused       connected ─┼─busy─▶ busy
//                                               refused ───┤
//                                               offline ───┘
//
// `busy`: its answer asked for a pause. The table of all states and events is in
// docs/design/sync.md; a test compares this file with it.
//
// Beside that a socket over which nothing comes, or a call that waits for ten seconds, makes a
// service look offline until it says anything.
import { timestampOf } from "../../shared/timestamps.ts";
import type { ContactChanged } from "../home/activity.ts";
import { type Failure, failureBy } from "../service/failure.ts";
import type { LiveState } from "./live-machine.ts";

/** A service that does not answer a request for this long counts as offline. */
const UNANSWERED_MS_MAX = 10_000;

/** The contact with the service. */
export interface Contact {
  /** It answered the last call and has not been silent since. */
  readonly online: boolean;
  /** While it is `live`, the socket tells of changes. Undefined before the first try. */
  readonly socket: LiveState | undefined;
  /** The service has only the published interface. */
  readonly plain: boolean;
  /** When it last answered or its socket was last up, in milliseconds since the Unix epoch. */
  readonly lastContactAt: number | undefined;
  /** Since when a call waits for its answer, in milliseconds since the Unix epoch. */
  readonly unansweredSince: number | undefined;
  /** It answers, but refuses this token. */
  readonly tokenRefused: boolean;
  /**
   * When it is called again, in milliseconds since the Unix epoch: its last answer was that it is
   * too busy. Undefined where it was not.
   */
  readonly busyUntil: number | undefined;
  /** Why it is offline or busy, or what it refused last. */
  readonly why: Failure | undefined;
}

/** What was heard, before silence and a waiting call are considered. */
export interface HeardContact extends Omit<Contact, "unansweredSince"> {
  /** The socket has been silent for too long, and no answer came since. */
  readonly isSilent: boolean;
}

export const NO_CONTACT: HeardContact = {
  online: false,
  socket: undefined,
  plain: false,
  tokenRefused: false,
  busyUntil: undefined,
  lastContactAt: undefined,
  why: undefined,
  isSilent: false,
};

/** Events of the contact with a service. Times are milliseconds since the Unix epoch. */
export type ContactEvent =
  /** It answered a call; `why`: it refused the content of the call. */
  | { readonly kind: "reached"; readonly at: number; readonly why?: Failure | undefined }
  | { readonly kind: "token-refused"; readonly at: number; readonly why: Failure }
  | { readonly kind: "unreached"; readonly why: Failure }
  /** It asked for a pause, and is called again at `until`. */
  | { readonly kind: "busy"; readonly until: number; readonly why: Failure }
  | { readonly kind: "socket"; readonly at: number; readonly state: LiveState }
  | { readonly kind: "exchanges"; readonly plain: boolean };

/** The contact after an event. */
export function stepContact(before: HeardContact, event: ContactEvent): HeardContact {
  switch (event.kind) {
    case "reached":
    case "token-refused": {
      const { at: lastContactAt, why } = event;
      const tokenRefused = event.kind === "token-refused";
      const heard = { online: true, isSilent: false, tokenRefused, busyUntil: undefined };
      return { ...before, ...heard, lastContactAt, why };
    }
    case "unreached":
    case "busy": {
      const busyUntil = event.kind === "busy" ? event.until : undefined;
      return { ...before, online: false, tokenRefused: false, busyUntil, why: event.why };
    }
    case "socket":
      return withSocket(before, event);
    case "exchanges":
      return { ...before, plain: event.plain };
  }
}

function withSocket(
  before: HeardContact,
  { state, at }: Extract<ContactEvent, { readonly kind: "socket" }>,
): HeardContact {
  // A single attempt that a person hurried, and that failed, does not mean that a socket is
  // offered.
  const isStillAbsent = state === "down" && before.socket === "absent";
  const isTelling = state === "live" || state === "silent";
  const isSilent = isTelling ? state === "silent" : before.isSilent;
  // Pings go over a live socket until its end, also when nothing else does.
  const wasLive = before.socket === "live" && state !== "silent";
  const lastContactAt = wasLive ? at : before.lastContactAt;
  return { ...before, socket: isStillAbsent ? "absent" : state, isSilent, lastContactAt };
}

/** Since when a call has been waiting for its answer, and for how long. */
export interface WaitingCall {
  readonly since: number;
  readonly waitedMs: number;
}

const MUTE = failureBy({ code: "no-answer" });

/** The contact now. */
export function contactNow(
  { isSilent, ...heard }: HeardContact,
  waiting: WaitingCall | undefined,
): Contact {
  const unansweredSince = waiting?.since;
  const isMute = isSilent || (waiting !== undefined && waiting.waitedMs >= UNANSWERED_MS_MAX);
  if (!isMute || !heard.online) return { ...heard, unansweredSince };
  return { ...heard, unansweredSince, online: false, why: MUTE };
}

/** What to tell of it; undefined while nothing is known. */
export function toldOf({
  online,
  tokenRefused,
  busyUntil,
  why,
}: Contact): Omit<ContactChanged, "service"> | undefined {
  if (!online && why === undefined) return undefined;
  const [reason, code] = [why?.message ?? null, why?.code ?? null];
  if (busyUntil !== undefined)
    return { event: "busy", reason, code, until: timestampOf(busyUntil) };
  if (!online) return { event: "offline", reason, code };
  return tokenRefused
    ? { event: "refused", reason, code }
    : { event: "connected", reason: null, code: null };
}
