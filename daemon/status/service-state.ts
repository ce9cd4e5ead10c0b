import { EMBEDDED } from "../home/remote.ts";
import type { Contact } from "../sync/contact.ts";

/** How it stands with a service, in a word: there is one for whatever is known of it. */
export type ServiceState =
  /** It is part of this home, and there. */
  | "embedded"
  /** It tells of changes at once. */
  | "connected"
  /** It answered last; the live socket is down, and is opened again. */
  | "reconnecting"
  /** It answers, and offers no live socket: it is asked about changes in turn. */
  | "asked"
  /** No call was answered and none has failed yet, or the first live socket is being opened. */
  | "connecting"
  /** It does not answer. */
  | "offline"
  /** It answers, and takes no call with this token. */
  | "token-refused"
  /** It is not called before a person has done something. */
  | "blocked";

/** What a state is read from. */
export interface ServiceFacts {
  readonly name: string;
  /** It is not called before a person has done something. */
  readonly isBlocked: boolean;
  readonly contact: Pick<Contact, "online" | "plain" | "socket" | "tokenRefused" | "message">;
}

/** Which of them it is. What a person has to see to comes first. */
export function serviceState({ name, isBlocked, contact }: ServiceFacts): ServiceState {
  const { online, plain, socket, tokenRefused, message } = contact;
  if (isBlocked) return "blocked";
  if (!online) return message === undefined ? "connecting" : "offline";
  if (tokenRefused) return "token-refused";
  if (name === EMBEDDED) return "embedded";
  if (socket === "live") return "connected";
  if (plain || socket === "absent") return "asked";
  return socket === undefined ? "connecting" : "reconnecting";
}
