import { EMBEDDED } from "../home/remote.ts";
import type { Contact } from "../sync/contact.ts";

/** The state of the contact with a service, as one word that covers every case. */
export type ServiceState =
  /** Part of this home. */
  | "embedded"
  /** Connected by a live socket, which tells changes at once. */
  | "connected"
  /** Its last answer was fine. The live socket is down and is being opened again. */
  | "reconnecting"
  /** It answers but offers no live socket, so it is asked about changes regularly. */
  | "asked"
  /** No call has succeeded or failed yet, or the first live socket is being opened. */
  | "connecting"
  /** It answered that it takes no calls for a while (429 or 503). */
  | "busy"
  /** It does not answer. */
  | "offline"
  /** It answers, but refuses this token. */
  | "token-refused"
  /** It is not called until a person has done something. */
  | "blocked";

/** What the state is derived from. */
export interface ServiceFacts {
  readonly name: string;
  /** It is not called until a person has done something. */
  readonly isBlocked: boolean;
  readonly contact: Pick<
    Contact,
    "online" | "plain" | "socket" | "tokenRefused" | "busyUntil" | "why"
  >;
}

/**
 * The state of a service. States that need a person come first.
 *
 * ```
 * serviceState({ name, isBlocked: false, contact: engine.contact }); // "connected"
 * ```
 */
export function serviceState({ name, isBlocked, contact }: ServiceFacts): ServiceState {
  const { online, plain, socket, tokenRefused, busyUntil, why } = contact;
  if (isBlocked) return "blocked";
  if (busyUntil !== undefined) return "busy";
  if (!online) return why === undefined ? "connecting" : "offline";
  if (tokenRefused) return "token-refused";
  if (name === EMBEDDED) return "embedded";
  if (socket === "live") return "connected";
  if (plain || socket === "absent") return "asked";
  return socket === undefined ? "connecting" : "reconnecting";
}
