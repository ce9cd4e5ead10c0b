import type { Log } from "../../shared/log.ts";
import type { Layer } from "../../shared/wire/layer.ts";

/** What of a document went to its service or came from there. */
export interface Transfer {
  /** `saved`: the service is the one embedded in this home, so nothing left the machine. */
  readonly event: "sent" | "received" | "saved";
  /** The layer whose document it is: everybody in the account sees what is sent of `global`. */
  readonly layer: Layer;
  /** The project's name; null for another layer. */
  readonly project: string | null;
  /** Whether the description document changed. */
  readonly text: boolean;
  /** How many memories were written or deleted. */
  readonly memories: number;
  /** The memory's key, where it is one. */
  readonly key: string | null;
  /** Bytes of the update; null where the service takes no updates. */
  readonly bytes: number | null;
  /** The machines that wrote it; null where that is not known, or was this one. */
  readonly machine: string | null;
}

/** A project that was deleted: its service has heard of it, or has told it. */
export interface ProjectDeletedActivity {
  readonly event: "deleted";
  readonly project: string;
  /** The machine that deleted it; null where that was this one, or is not known. */
  readonly machine: string | null;
}

/** A followed file into which others' changes were written. */
export interface FileWritten {
  readonly event: "wrote";
  readonly project: string;
  readonly file: string;
  readonly bytes: number;
}

/** A service that answers again, does not take the token, or does not answer any more. */
export interface ContactChanged {
  readonly event: "connected" | "refused" | "offline";
  readonly service: string;
  readonly reason: string | null;
}

/** A conflict, or a write that is held, which was not there before. */
export interface Noticed {
  readonly event: "conflict" | "held";
  readonly project: string;
  /** A memory's key, or what else it is about. */
  readonly what: string;
}

/** What a person may watch happen. It goes into the log, and onto the screen of `up`. */
export type Activity = Transfer | ProjectDeletedActivity | FileWritten | ContactChanged | Noticed;

/** Takes what happens, in order. */
export type OnActivity = (activity: Activity) => void;

const EVENTS: Readonly<Record<Activity["event"], "info" | "warn">> = {
  sent: "info",
  received: "info",
  saved: "info",
  deleted: "info",
  wrote: "info",
  connected: "info",
  refused: "warn",
  offline: "warn",
  conflict: "warn",
  held: "warn",
};

/** Writes it into the log: a line each, whose message is the event. */
export function logActivity(log: Log, activity: Activity): void {
  const { event, ...fields } = activity;
  log[EVENTS[event]](fields, event);
}

/** What `logActivity` wrote, read from a line of the log; undefined for any other line. */
export function parseActivity(line: Readonly<Record<string, unknown>>): Activity | undefined {
  const { msg, level: _level, time: _time, ...fields } = line;
  if (typeof msg !== "string" || !(msg in EVENTS)) return undefined;
  // The fields of an event are those that were written with it, by this program alone.
  return { event: msg, ...fields } as unknown as Activity;
}
